// SPDX-License-Identifier: Apache-2.0
// The library libWireCellSpngGrpc.so. Its one symbol is spng_grpc_plugin().

#include "spng/kserve/grpc_plugin.h"

#include "profiling/recorder/signals_blocked.h"
#include "spng/core/error.h"
#include "spng/core/printable.h"
#include "spng/kserve/budget.h"
#include "spng/kserve/grpc/messages.h"

#include "inference.grpc.pb.h"

#include <grpc/grpc.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/resource_quota.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <sys/stat.h>
#include <utility>

namespace spng::kserve {
namespace {

using grpc::StatusCode;

constexpr std::size_t max_text_bytes = 4000; // the text of a status is in a header of HTTP/2, which has 8 kB

constexpr std::size_t max_message_bytes = std::numeric_limits<int>::max(); // gRPC counts them in an int

/// Keep gRPC until the process ends: its last user to leave may wait 10 s for a thread that watches connections.
void keep_grpc() {
    const recorder::SignalsBlocked blocked; // its threads inherit the mask
    static const bool is_kept = (grpc_init(), true);
    static_cast<void>(is_kept);
}

grpc::Status status_of(const Failure& failure) {
    const auto code = [&] {
        switch (failure.status) {
        case Status::invalid:
            return StatusCode::INVALID_ARGUMENT;
        case Status::not_found:
            return StatusCode::NOT_FOUND;
        case Status::too_large:
        case Status::overloaded:
            return StatusCode::RESOURCE_EXHAUSTED;
        case Status::unavailable:
            return StatusCode::UNAVAILABLE;
        case Status::timeout:
            return StatusCode::DEADLINE_EXCEEDED;
        case Status::failed:
            break;
        }
        return StatusCode::INTERNAL;
    }();
    return {code, shortened(failure.text, max_text_bytes)};
}

Failure failure_of(const grpc::Status& status) {
    const auto kind = [&] {
        switch (status.error_code()) {
        case StatusCode::INVALID_ARGUMENT:
            return Status::invalid;
        case StatusCode::NOT_FOUND:
        case StatusCode::UNIMPLEMENTED:
            return Status::not_found;
        case StatusCode::RESOURCE_EXHAUSTED: // gRPC's own text for a message beyond the limit
            return status.error_message().find("larger than max") != std::string::npos ||
                           status.error_message().find("not enough memory") != std::string::npos
                       ? Status::too_large
                       : Status::overloaded;
        case StatusCode::UNAVAILABLE:
            return Status::unavailable;
        case StatusCode::DEADLINE_EXCEEDED:
            return Status::timeout;
        default:
            return Status::failed;
        }
    }();
    return {kind, status.error_message()};
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

class Service final : public inference::GRPCInferenceService::CallbackService {
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
        const auto model = m_handler.describe(request->name(), request->version());
        if (const auto* failure = std::get_if<Failure>(&model)) {
            return finished(context, status_of(*failure));
        }
        response->set_ready(m_handler.is_ready());
        return finished(context, grpc::Status::OK);
    }

    grpc::ServerUnaryReactor* ServerMetadata(grpc::CallbackServerContext* context,
                                             const inference::ServerMetadataRequest*,
                                             inference::ServerMetadataResponse* response) override {
        const ServerDescription server = m_handler.describe_server();
        response->set_name(server.name);
        response->set_version(server.version);
        return finished(context, grpc::Status::OK);
    }

    grpc::ServerUnaryReactor* ModelMetadata(grpc::CallbackServerContext* context,
                                            const inference::ModelMetadataRequest* request,
                                            inference::ModelMetadataResponse* response) override {
        const auto model = m_handler.describe(request->name(), request->version());
        if (const auto* failure = std::get_if<Failure>(&model)) {
            return finished(context, status_of(*failure));
        }
        fill(*response, std::get<ModelDescription>(model));
        return finished(context, grpc::Status::OK);
    }

    grpc::ServerUnaryReactor* ModelInfer(grpc::CallbackServerContext* context,
                                         const inference::ModelInferRequest* message,
                                         inference::ModelInferResponse* response) override {
        auto slot = m_slots.reserve(1, static_cast<std::size_t>(m_limits.max_requests));
        if (!slot) {
            return finished(context, busy(*message, "the largest count of requests at a time"));
        }
        // gRPC's quota does not count messages that have arrived.
        const std::size_t bytes = message->ByteSizeLong();
        auto memory = m_memory.reserve(bytes, 2 * m_limits.max_bytes);
        if (!memory) {
            return finished(context,
                            busy(*message, "no memory for a request of " + std::to_string(bytes) + " bytes"));
        }
        const auto call = std::make_shared<Call>(Call{context->DefaultReactor(), std::move(slot), memory});
        try {
            // Nobody else reads the message, which is not const: its large contents need not be copied.
            InferRequest request = take_request(const_cast<inference::ModelInferRequest&>(*message));
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
    static grpc::Status busy(const inference::ModelInferRequest& message, std::string seen) {
        const Error error(ErrorKind::Device, {.what = "the server is busy",
                                              .where = "request to model " + message.model_name(),
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

    static grpc::Status answer(Result<InferResponse> result, inference::ModelInferResponse& response) {
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
            fill(response, std::get<InferResponse>(result));
        } catch (const std::exception& failure) { // no memory
            return {StatusCode::INTERNAL, failure.what()};
        }
        return grpc::Status::OK;
    }

    Handler& m_handler;
    const GrpcLimits m_limits;
    Budget m_slots, m_memory;
};

class GrpcListener final : public Listener {
public:
    GrpcListener(Address address, Handler& handler, const GrpcLimits& limits)
        : m_address(std::move(address)), m_service(handler, limits) {
        keep_grpc();
        const recorder::SignalsBlocked blocked;
        grpc::ServerBuilder builder;
        grpc::ResourceQuota quota("spng");
        quota.Resize(2 * limits.max_bytes + (std::size_t{64} << 20));
        builder.SetResourceQuota(quota);
        const auto max_bytes = static_cast<int>(std::min(limits.max_bytes, max_message_bytes));
        builder.SetMaxReceiveMessageSize(max_bytes);
        builder.SetMaxSendMessageSize(-1);
        builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
        const auto idle_ms = static_cast<int>(std::min(limits.idle_seconds * 1000, 2e9));
        builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, idle_ms);
        // A client that does not answer a ping is gone: close its connection, also in the middle of a
        // message.
        builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, idle_ms);
        builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
        builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, limits.max_requests);
        int port = 0;
        builder.AddListeningPort(target(m_address), grpc::InsecureServerCredentials(), &port);
        builder.RegisterService(&m_service);
        const mode_t before = m_address.is_unix() ? umask(S_IXUSR | S_IRWXG | S_IRWXO) : 0;
        m_server = builder.BuildAndStart();
        if (m_address.is_unix()) {
            umask(before);
        } else {
            m_address.port = static_cast<std::uint16_t>(port);
        }
        m_is_open = m_server != nullptr && port != 0;
    }

    ~GrpcListener() override { stop(0); }

    bool is_open() const { return m_is_open; }
    std::string address() const override { return m_address.text(); }

    void stop(double seconds) override {
        if (m_server) {
            m_server->Shutdown(std::chrono::system_clock::now() +
                               std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000)));
            m_server->Wait();
            m_server.reset();
        }
    }

    static std::string target(const Address& address) {
        return address.text().substr(std::string("grpc://").size());
    }

private:
    Address m_address;
    Service m_service;
    std::unique_ptr<grpc::Server> m_server;
    bool m_is_open = false;
};

class GrpcClient final : public RemoteServer {
public:
    explicit GrpcClient(const Address& address) {
        keep_grpc();
        const recorder::SignalsBlocked blocked;
        grpc::ChannelArguments arguments;
        arguments.SetMaxReceiveMessageSize(-1);
        arguments.SetMaxSendMessageSize(-1);
        arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
        m_stub = inference::GRPCInferenceService::NewStub(grpc::CreateCustomChannel(
            GrpcListener::target(address), grpc::InsecureChannelCredentials(), arguments));
    }

    Result<ModelDescription> describe(const std::string& model, double seconds) override {
        inference::ModelMetadataRequest request;
        request.set_name(model);
        inference::ModelMetadataResponse response;
        grpc::ClientContext context;
        set_deadline(context, seconds);
        const grpc::Status status = m_stub->ModelMetadata(&context, request, &response);
        if (!status.ok()) {
            return failure_of(status);
        }
        return description_of(response);
    }

    Result<InferResponse> infer(const InferRequest& request, double seconds) override {
        inference::ModelInferRequest message;
        fill(message, request);
        inference::ModelInferResponse response;
        grpc::ClientContext context;
        set_deadline(context, seconds);
        const grpc::Status status = m_stub->ModelInfer(&context, message, &response);
        if (!status.ok()) {
            return failure_of(status);
        }
        try {
            return take_response(response);
        } catch (const Error& error) {
            return Failure{Status::failed, error.text().what + ": " + error.text().seen};
        }
    }

private:
    static void set_deadline(grpc::ClientContext& context, double seconds) {
        if (seconds > 0) {
            context.set_deadline(std::chrono::system_clock::now() +
                                 std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000)));
        }
    }

    std::unique_ptr<inference::GRPCInferenceService::Stub> m_stub;
};

Result<std::unique_ptr<Listener>> listen(const Address& address, Handler& handler, const GrpcLimits& limits) {
    auto listener = std::make_unique<GrpcListener>(address, handler, limits);
    if (!listener->is_open()) {
        return Failure{Status::failed, "it cannot be bound; another process may have it"};
    }
    return std::unique_ptr<Listener>(std::move(listener));
}

std::unique_ptr<RemoteServer> connect(const Address& address) {
    return std::make_unique<GrpcClient>(address);
}

} // namespace
} // namespace spng::kserve

extern "C" __attribute__((visibility("default"))) const spng::kserve::GrpcPlugin* spng_grpc_plugin() {
    static const spng::kserve::GrpcPlugin plugin{spng::kserve::grpc_abi, &spng::kserve::listen,
                                                 &spng::kserve::connect};
    return &plugin;
}
