// SPDX-License-Identifier: Apache-2.0
#include "spng/kserve/grpc/service.h"

#include "spng/core/error.h"
#include "spng/core/printable.h"
#include "spng/kserve/budget.h"
#include "spng/kserve/grpc/messages.h"
#include "spng/kserve/json_descriptions.h"
#include "spng/kserve/reject_message.h"
#include "spng/kserve/status_codes.h"

#include "inference.grpc.pb.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace spng::kserve {
namespace {

using grpc::StatusCode;

constexpr std::size_t max_text_bytes = 4000; // the text of a status is in a header of HTTP/2, which has 8 kB

grpc::Status status_of(const Failure& failure) {
    const auto code = static_cast<StatusCode>(codes_of(failure.status).grpc);
    return {code, shortened(failure.text, max_text_bytes)};
}

/// Seconds until a client's deadline; 0: none.
double seconds_left(const grpc::CallbackServerContext& context) {
    const auto deadline = context.deadline();
    if (deadline == std::chrono::system_clock::time_point::max()) {
        return 0;
    }
    const std::chrono::duration<double> left = deadline - std::chrono::system_clock::now();
    return std::max(left.count(), 0.001);
}

/// A call that has no status yet.
struct Call {
    grpc::ServerUnaryReactor* reactor;
    std::shared_ptr<const void> slot, memory;

    void finish(const grpc::Status& status) {
        slot.reset(); // before the client can send its next request
        memory.reset();
        reactor->Finish(status);
    }
};

/// ModelInfer takes bytes, because gRPC itself replies UNIMPLEMENTED to a message that cannot be parsed.
using Methods = inference::GRPCInferenceService;
class Service final : public Methods::WithRawCallbackMethod_ModelInfer<Methods::CallbackService> {
public:
    Service(Handler& handler, const GrpcLimits& limits) : m_handler(handler), m_limits(limits) {}

    grpc::ServerUnaryReactor* ServerLive(grpc::CallbackServerContext* context,
                                         const inference::ServerLiveRequest*,
                                         inference::ServerLiveResponse* response) override {
        response->set_live(m_handler.is_live());
        return finished(context, grpc::Status::OK);
    }

    grpc::ServerUnaryReactor* ServerReady(grpc::CallbackServerContext* context,
                                          const inference::ServerReadyRequest*,
                                          inference::ServerReadyResponse* response) override {
        response->set_ready(m_handler.is_ready());
        return finished(context, grpc::Status::OK);
    }

    grpc::ServerUnaryReactor* ModelReady(grpc::CallbackServerContext* context,
                                         const inference::ModelReadyRequest* request,
                                         inference::ModelReadyResponse* response) override {
        return replied(context, m_handler.describe(request->name(), request->version()),
                       [&](const auto&) { response->set_ready(m_handler.is_ready()); });
    }

    grpc::ServerUnaryReactor* ServerMetadata(grpc::CallbackServerContext* context,
                                             const inference::ServerMetadataRequest*,
                                             inference::ServerMetadataResponse* response) override {
        fill(*response, to_json(m_handler.describe_server()));
        return finished(context, grpc::Status::OK);
    }

    grpc::ServerUnaryReactor* ModelMetadata(grpc::CallbackServerContext* context,
                                            const inference::ModelMetadataRequest* request,
                                            inference::ModelMetadataResponse* response) override {
        return replied(context, m_handler.describe(request->name(), request->version()),
                       [&](const auto& model) { fill(*response, to_json(model)); });
    }

    grpc::ServerUnaryReactor* ModelConfig(grpc::CallbackServerContext* context,
                                          const inference::ModelConfigRequest* request,
                                          inference::ModelConfigResponse* response) override {
        return replied(context, m_handler.describe(request->name(), request->version()),
                       [&](const auto& model) { fill(*response->mutable_config(), config_json(model)); });
    }

    grpc::ServerUnaryReactor* ModelStatistics(grpc::CallbackServerContext* context,
                                              const inference::ModelStatisticsRequest* request,
                                              inference::ModelStatisticsResponse* response) override {
        return replied(context, m_handler.statistics(request->name(), request->version()),
                       [&](const auto& models) { fill(*response, to_json(models)); });
    }

    grpc::ServerUnaryReactor* RepositoryIndex(grpc::CallbackServerContext* context,
                                              const inference::RepositoryIndexRequest* request,
                                              inference::RepositoryIndexResponse* response) override {
        const bool is_ready = m_handler.is_ready();
        for (const std::string& name : m_handler.model_names()) {
            if (is_ready || !request->ready()) {
                auto& model = *response->add_models();
                model.set_name(name);
                model.set_version("1");
                model.set_state(is_ready ? "READY" : "UNAVAILABLE");
            }
        }
        return finished(context, grpc::Status::OK);
    }

    grpc::ServerUnaryReactor* ModelInfer(grpc::CallbackServerContext* context,
                                         const grpc::ByteBuffer* request_bytes,
                                         grpc::ByteBuffer* response) override {
        auto slot = m_slots.reserve(1, static_cast<std::size_t>(m_limits.max_requests));
        if (!slot) {
            return finished(context, busy("the largest count of requests at a time"));
        }
        // gRPC's quota does not count messages that have arrived.
        const std::size_t bytes = request_bytes->Length();
        auto memory = m_memory.reserve(bytes, 2 * m_limits.max_bytes);
        if (!memory) {
            return finished(context, busy("no memory for a request of " + std::to_string(bytes) + " bytes"));
        }
        const auto call = std::make_shared<Call>(Call{context->DefaultReactor(), std::move(slot), memory});
        try {
            inference::ModelInferRequest message;
            grpc::ByteBuffer unread = *request_bytes; // the same memory
            if (!grpc::SerializationTraits<inference::ModelInferRequest>::Deserialize(&unread, &message)
                     .ok()) {
                reject_message("request", std::to_string(bytes) + " bytes that cannot be parsed",
                               "a ModelInferRequest with strings of UTF-8");
            }
            InferRequest request = take_request(message);
            request.owner = std::move(memory); // after a timeout the tensors outlive the call
            m_handler.infer(std::move(request), "grpc", seconds_left(*context),
                            [call, response](Result<InferResponse> result) {
                                call->finish(answer(std::move(result), *response));
                            });
        } catch (const Error& error) {
            call->finish(status_of({Status::invalid, error.what()}));
        } catch (const std::exception& failure) { // no memory
            call->finish({StatusCode::INTERNAL, failure.what()});
        }
        return call->reactor;
    }

private:
    static grpc::Status busy(std::string seen) {
        const Error error(ErrorKind::Device, {.what = "the server is busy",
                                              .where = "request",
                                              .seen = std::move(seen),
                                              .expected = "fewer requests",
                                              .hint = "send it again later"});
        return status_of({Status::overloaded, error.what()});
    }

    static grpc::ServerUnaryReactor* finished(grpc::CallbackServerContext* context,
                                              const grpc::Status& status) {
        grpc::ServerUnaryReactor* const reactor = context->DefaultReactor();
        reactor->Finish(status);
        return reactor;
    }

    /// @param fill  gets the value of a result that is no failure
    template <class Value, class Fill>
    static grpc::ServerUnaryReactor* replied(grpc::CallbackServerContext* context,
                                             const Result<Value>& result, Fill fill) {
        if (const auto* failure = std::get_if<Failure>(&result)) {
            return finished(context, status_of(*failure));
        }
        fill(std::get<Value>(result));
        return finished(context, grpc::Status::OK);
    }

    static grpc::Status answer(Result<InferResponse> result, grpc::ByteBuffer& response) {
        if (const auto* failure = std::get_if<Failure>(&result)) {
            return status_of(*failure);
        }
        std::size_t bytes = 0;
        for (const Tensor& tensor : std::get<InferResponse>(result).outputs) {
            bytes += tensor.bytes;
        }
        if (bytes > max_message_bytes) {
            return {StatusCode::RESOURCE_EXHAUSTED,
                    "the response is larger than 2 GB; ask for fewer outputs, or use HTTP"};
        }
        try {
            inference::ModelInferResponse message;
            fill(message, std::get<InferResponse>(result));
            bool owns_bytes = false;
            return grpc::SerializationTraits<inference::ModelInferResponse>::Serialize(message, &response,
                                                                                       &owns_bytes);
        } catch (const std::exception& failure) { // no memory
            return {StatusCode::INTERNAL, failure.what()};
        }
    }

    Handler& m_handler;
    const GrpcLimits m_limits;
    Budget m_slots, m_memory;
};

} // namespace

std::unique_ptr<grpc::Service> make_service(Handler& handler, const GrpcLimits& limits) {
    return std::make_unique<Service>(handler, limits);
}

} // namespace spng::kserve
