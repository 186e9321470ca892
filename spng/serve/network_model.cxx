// SPDX-License-Identifier: Apache-2.0
#include "spng/serve/network_model.h"

#include "profiling/recorder/signals_blocked.h"
#include "spng/core/tensor_checks.h"
#include "spng/device/memory/out_of_memory.h"
#include "spng/kserve/datatypes.h"
#include "spng/kserve/known_parameters.h"
#include "spng/kserve/reject_message.h"

#include <ATen/ops/from_blob.h>
#include <boost/asio/post.hpp>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <utility>

namespace spng {
namespace {

constexpr const char* input_name = "features";
constexpr const char* output_name = "probability";

std::size_t thread_count(const TorchService& service) {
    return static_cast<std::size_t>(std::clamp<std::int64_t>(service.config().concurrency, 1, 64));
}

/// Return the input of a request.
/// @param count  of the features
/// @throws Error(Input) for another one, and for outputs and parameters that the network does not have
const kserve::Tensor& features_of(const kserve::InferRequest& request, std::int64_t count) {
    const std::string where = "request to model " + request.model;
    const bool is_one = request.inputs.size() == 1 && request.inputs.front().name == input_name;
    const auto seen = [&] {
        std::string text = request.inputs.empty() ? "no input" : "";
        for (const kserve::Tensor& tensor : request.inputs) {
            text += (text.empty() ? "" : ", ") + tensor.name + " " +
                    kserve::describe(tensor.datatype, tensor.shape);
        }
        return text;
    };
    if (!is_one || request.inputs.front().datatype != "FP32" || request.inputs.front().shape.size() != 4 ||
        request.inputs.front().shape[1] != count || request.inputs.front().bytes == 0) {
        kserve::reject(where, "the input of the network is not understood", seen(),
                       "one input features, FP32 (view, feature, channel, tick), with " +
                           std::to_string(count) + " features");
    }
    for (const kserve::RequestedOutput& output : request.outputs) {
        if (output.name != output_name) {
            kserve::reject(where, "the network has no such output", "'" + output.name + "'", output_name);
        }
    }
    kserve::require_request_parameters(request.parameters, {}, "network", where);
    return request.inputs.front();
}

kserve::InferResponse respond(const kserve::InferRequest& request, const TorchService& service) {
    const kserve::Tensor& features = request.inputs.front();
    const c10::InferenceMode no_gradients;
    const at::Tensor input = at::from_blob(const_cast<void*>(features.data), features.shape, at::kFloat);
    auto output = std::make_shared<const at::Tensor>(
        service.forward_as_is(input).to(at::kCPU, at::kFloat).contiguous());
    kserve::InferResponse response{.model = request.model, .version = "1", .id = request.id};
    response.outputs.push_back({.name = output_name,
                                .datatype = "FP32",
                                .shape = output->sizes().vec(),
                                .data = output->const_data_ptr(),
                                .bytes = output->nbytes(),
                                .owner = output});
    return response;
}

} // namespace

NetworkModel::NetworkModel(std::string name, const TorchService& service, std::size_t max_waiting)
    : m_service(service), m_max_requests(thread_count(service) + max_waiting) {
    {
        const recorder::SignalsBlocked blocked; // the threads inherit the mask
        m_threads = std::make_unique<boost::asio::thread_pool>(thread_count(service));
    }
    m_description.name = std::move(name);
    m_description.platform = "spng_network";
    const auto features = static_cast<std::int64_t>(service.features().size());
    m_description.inputs = {{input_name, "FP32", {-1, features, -1, -1}}};
    m_description.outputs = {{output_name, "FP32", {-1, 1, -1, -1}}};
    m_description.properties = {{"metadata", service.metadata().text}};
    if (const auto& file = service.data_file()) {
        m_description.properties["file"] = file->path.filename().string();
        m_description.properties["sha256"] = file->sha256;
    }
}

NetworkModel::~NetworkModel() {
    m_is_ending = true;
    m_threads->join();
}

kserve::Result<kserve::InferResponse> NetworkModel::run(const kserve::InferRequest& request) const {
    try {
        return respond(request, m_service);
    } catch (const ModelOutOfMemory& failure) {
        return kserve::Failure{
            kserve::Status::too_large,
            Error(ErrorKind::Device, {.what = "not enough memory for the network",
                                      .where = "request to model " + request.model,
                                      .seen = failure.what(),
                                      .expected = "a smaller input",
                                      .hint = "set chunk_ticks of the SPNGTorchService that asks"})
                .what()};
    } catch (const Error& error) {
        kserve::Failure failure = failure_of(error);
        if (error.kind() == ErrorKind::Model) { // it works for the probe of the job: the shape is the reason
            failure.status = kserve::Status::invalid;
        }
        return failure;
    } catch (...) {
        return failure_of(current_error());
    }
}

void NetworkModel::infer(std::shared_ptr<const kserve::InferRequest> request,
                         std::shared_ptr<const std::atomic<bool>> is_answered, Done done) {
    features_of(*request, static_cast<std::int64_t>(m_service.features().size()));
    const bool is_full = m_requests++ >= m_max_requests;
    std::shared_ptr<void> slot(this, [this](void*) { --m_requests; });
    if (is_full) {
        const Error full(ErrorKind::Device,
                         {.what = "the queue of the network is full",
                          .where = "request to model " + request->model,
                          .seen = std::to_string(m_max_requests) + " requests run or wait",
                          .expected = "a free slot",
                          .hint = "send it again later; wire-cell --serve-queue N makes room for more"});
        done({kserve::Failure{kserve::Status::overloaded, full.what()}});
        return;
    }
    boost::asio::post(*m_threads, [this, slot = std::move(slot), request = std::move(request),
                                   is_answered = std::move(is_answered), done = std::move(done)]() mutable {
        const bool is_skipped = *is_answered || m_is_ending;
        ModelResult result{is_skipped ? kserve::Failure{kserve::Status::unavailable, "the server ends"}
                                      : run(*request)};
        slot.reset(); // before the client can send its next request
        done(std::move(result));
    });
}

} // namespace spng
