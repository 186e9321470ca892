// SPDX-License-Identifier: Apache-2.0
#include "spng/serve/model_server.h"

#include "spng/core/nearest.h"
#include "spng/core/printable.h"
#include "spng/device/memory/out_of_memory.h"
#include "spng/instrument/capture_switch.h"
#include "spng/instrument/clock.h"
#include "spng/instrument/control/prometheus.h"
#include "spng/job/version.h"
#include "spng/kserve/reject_message.h"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <utility>

namespace spng {

using kserve::Failure;
using kserve::Status;

namespace {

/// Return the shorter one of two limits, of which 0 is none.
double shorter(double left, double right) {
    return left <= 0 ? right : right <= 0 ? left : std::min(left, right);
}

/// Return the parameter timeout of Triton's clients, which count in microseconds [s]; 0 without it.
/// @throws Error(Input) for anything but an integer of at least 0
double timeout_of(const kserve::InferRequest& request) {
    const auto found = request.parameters.find("timeout");
    if (found == request.parameters.end()) {
        return 0;
    }
    const auto* const microseconds = std::get_if<std::int64_t>(&found->second);
    if (microseconds == nullptr || *microseconds < 0) {
        kserve::reject("request to model " + request.model, "the time limit of a request is not understood",
                       "parameter timeout", "an integer of at least 0 [microseconds]");
    }
    return static_cast<double>(*microseconds) / 1e6;
}

} // namespace

/// A request that has no response yet.
struct ModelServer::Call {
    std::string model;
    const char* transport;
    kserve::Done done;
    instrument::Stopwatch time{};
    std::atomic<bool> is_done{false};
    std::unique_ptr<boost::asio::steady_timer> timer{}; ///< used on the strand alone
};

ModelServer::ModelServer(IoThreads& threads, double request_seconds)
    : m_timers(boost::asio::make_strand(threads.context())), m_request_seconds(request_seconds) {}

void ModelServer::add(ServedModel& model) {
    m_models.push_back(&model);
}

std::vector<std::string> ModelServer::model_names() const {
    std::vector<std::string> names;
    for (const ServedModel* const model : m_models) {
        names.push_back(model->description().name);
    }
    return names;
}

ServedModel* ModelServer::find(const std::string& model) const {
    const auto found = std::find_if(m_models.begin(), m_models.end(), [&](const ServedModel* each) {
        return each->description().name == model;
    });
    return found == m_models.end() ? nullptr : *found;
}

Failure ModelServer::unknown(const std::string& model, const std::string& version) const {
    const auto names = model_names();
    const bool is_version = find(model) != nullptr;
    const Error error(ErrorKind::Input,
                      {.what = is_version ? "the model has no such version" : "the server has no such model",
                       .where = "request",
                       .seen = shortened(is_version ? model + ", version " + version : model, 200),
                       .expected = is_version ? "version 1, or none" : joined(names),
                       .hint = is_version ? "" : suggestion(shortened(model, 200), names)});
    return {Status::not_found, error.what()};
}

kserve::ServerDescription ModelServer::describe_server() const {
    return {"spng", build_info().version, {"binary_tensor_data", "model_configuration", "statistics"}};
}

kserve::Result<kserve::ModelDescription> ModelServer::describe(const std::string& model,
                                                               const std::string& version) const {
    const ServedModel* const found = find(model);
    if (found == nullptr || (!version.empty() && version != "1")) {
        return unknown(model, version);
    }
    return found->description();
}

kserve::Result<std::vector<kserve::ModelStatistics>>
ModelServer::statistics(const std::string& model, const std::string& version) const {
    if (!model.empty()) {
        const auto found = describe(model, version);
        if (const auto* failure = std::get_if<Failure>(&found)) {
            return *failure;
        }
    }
    std::vector<kserve::ModelStatistics> list;
    for (const std::string& name : model.empty() ? model_names() : std::vector{model}) {
        list.push_back(m_metrics.statistics(name));
    }
    return list;
}

void ModelServer::infer(kserve::InferRequest request, const char* transport, double seconds_allowed,
                        kserve::Done done) {
    ServedModel* const model = find(request.model);
    const bool is_known = model != nullptr && (request.version.empty() || request.version == "1");
    // Unknown names come from clients: a metric for each would be memory without limit.
    const auto call = std::make_shared<Call>();
    call->model = is_known ? request.model : "";
    call->transport = transport;
    call->done = std::move(done);
    ++m_in_flight;
    if (!is_known) {
        finish(call, {unknown(request.model, request.version)});
        return;
    }
    if (m_draining) {
        const Error ending(ErrorKind::Usage, {.what = "the server ends",
                                              .where = "request to model " + request.model,
                                              .seen = "a new request",
                                              .expected = "none after SIGTERM or SIGINT",
                                              .hint = "send it to another server"});
        finish(call, {Failure{Status::unavailable, ending.what()}});
        return;
    }
    try {
        set_timeout(call, shorter(m_request_seconds, shorter(seconds_allowed, timeout_of(request))));
        model->infer(std::make_shared<const kserve::InferRequest>(std::move(request)),
                     std::shared_ptr<const std::atomic<bool>>(call, &call->is_done),
                     [this, call](ModelResult result) { finish(call, std::move(result)); });
    } catch (...) {
        finish(call, {failure_of(current_error())});
    }
}

void ModelServer::set_timeout(const std::shared_ptr<Call>& call, double seconds) {
    if (seconds <= 0) {
        return;
    }
    boost::asio::post(m_timers, [this, call, seconds] {
        if (call->is_done) {
            return;
        }
        using Timer = boost::asio::steady_timer;
        call->timer = std::make_unique<Timer>(m_timers);
        call->timer->expires_after(
            std::chrono::duration_cast<Timer::duration>(std::chrono::duration<double>(seconds)));
        call->timer->async_wait([this, call, seconds](boost::system::error_code stopped) {
            if (!stopped) {
                const Error late(ErrorKind::Device,
                                 {.what = "the request has no result in time",
                                  .where = "request to model " + call->model,
                                  .seen = std::to_string(seconds) + " s",
                                  .expected = "a result within the time of client and server",
                                  .hint = "send fewer requests at once, or raise the limit "
                                          "(wire-cell --serve-timeout SECONDS)"});
                finish(call, {Failure{Status::timeout, late.what()}});
            }
        });
    });
}

void ModelServer::finish(const std::shared_ptr<Call>& call, ModelResult result) {
    if (call->is_done.exchange(true)) {
        return; // the result of a request whose time was over, or the other way round
    }
    const auto* const failure = std::get_if<Failure>(&result.response);
    m_metrics.add(call->model, call->transport, failure == nullptr ? nullptr : &failure->status,
                  call->time.seconds(), result.waited_seconds, result.run_seconds);
    boost::asio::post(m_timers, [call] {
        if (call->timer) {
            call->timer->cancel();
        }
    });
    const kserve::Done done = std::move(call->done);
    done(std::move(result.response));
    const std::lock_guard lock(m_mutex);
    --m_in_flight;
    m_finished.notify_all();
}

bool ModelServer::drain(double seconds) {
    std::unique_lock lock(m_mutex);
    return m_finished.wait_for(lock, std::chrono::duration<double>(seconds),
                               [this] { return m_in_flight == 0; });
}

std::string ModelServer::metrics(std::vector<Gauge> more) const {
    more.push_back(
        {"spng_requests_in_flight", "Requests without a response.", static_cast<double>(m_in_flight)});
    more.push_back({"spng_ready", "Whether new requests are accepted.", m_draining ? 0.0 : 1.0});
    more.push_back({"process_resident_memory_bytes", "Resident memory of the process.", resident_bytes()});
    return m_metrics.text(more) + instrument::prometheus_text(instrument::recording::window_is_open());
}

} // namespace spng
