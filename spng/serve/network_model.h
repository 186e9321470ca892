// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spng/nodes/dnn/torch_service.h"
#include "spng/serve/served_model.h"

#include <boost/asio/thread_pool.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>

namespace spng {

/// The network of a job, for DNNROI in other processes: its input in, its output out, both as the network has
/// them. Requests wait in a queue; a full queue rejects them, and a request that is answered while it waits
/// is not run.
class NetworkModel final : public ServedModel {
public:
    /// @param service      prepared, with a network of this process; must live until all requests are done
    /// @param max_waiting  requests besides those that run
    NetworkModel(std::string name, const TorchService& service, std::size_t max_waiting);
    /// Wait for the requests that run, and fail the others.
    ~NetworkModel() override;
    const kserve::ModelDescription& description() const override { return m_description; }
    void infer(std::shared_ptr<const kserve::InferRequest> request,
               std::shared_ptr<const std::atomic<bool>> is_answered, Done done) override;

private:
    kserve::Result<kserve::InferResponse> run(const kserve::InferRequest& request) const;

    const TorchService& m_service;
    const std::size_t m_max_requests; ///< running and waiting
    std::atomic<std::size_t> m_requests{0};
    std::atomic<bool> m_is_ending{false};
    kserve::ModelDescription m_description;
    std::unique_ptr<boost::asio::thread_pool> m_threads;
};

} // namespace spng
