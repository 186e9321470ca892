// SPDX-License-Identifier: Apache-2.0
#pragma once
// Models, limits and counts of a server, for all its addresses.

#include "spng/kserve/protocol.h"
#include "spng/serve/io_threads.h"
#include "spng/serve/metrics.h"
#include "spng/serve/served_model.h"

#include <boost/asio/strand.hpp>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace spng {

/// Thread-safe, except add().
class ModelServer final : public kserve::Handler {
public:
    /// @param threads          for the timeouts; must live longer
    /// @param request_seconds  a request without a result after this time fails; 0: no limit
    ModelServer(IoThreads& threads, double request_seconds);

    /// Offer a model, which must live until drain() has returned. The first one is the main model.
    void add(ServedModel& model);
    std::vector<std::string> model_names() const override;

    kserve::ServerDescription describe_server() const override;
    bool is_live() const override { return true; }
    bool is_ready() const override { return !m_draining; }
    kserve::Result<kserve::ModelDescription> describe(const std::string& model,
                                                      const std::string& version) const override;
    kserve::Result<std::vector<kserve::ModelStatistics>>
    statistics(const std::string& model, const std::string& version) const override;
    void infer(kserve::InferRequest request, const char* transport, double seconds_allowed,
               kserve::Done done) override;

    /// Accept no more requests from now on.
    void begin_draining() { m_draining = true; }
    /// Wait until no request is left. Call after begin_draining().
    /// @return false if there are some after the time
    bool drain(double seconds);
    int requests_in_flight() const { return m_in_flight; }

    /// The text of /metrics.
    /// @param more  values that the owner of the server knows
    std::string metrics(std::vector<Gauge> more) const;

private:
    struct Call;
    void finish(const std::shared_ptr<Call>& call, ModelResult result);
    void set_timeout(const std::shared_ptr<Call>& call, double seconds);
    ServedModel* find(const std::string& model) const;
    kserve::Failure unknown(const std::string& model, const std::string& version) const;

    boost::asio::strand<boost::asio::io_context::executor_type> m_timers;
    const double m_request_seconds;
    std::vector<ServedModel*> m_models;
    RequestMetrics m_metrics;
    std::atomic<bool> m_draining{false};
    std::atomic<int> m_in_flight{0};
    std::mutex m_mutex;
    std::condition_variable m_finished;
};

} // namespace spng
