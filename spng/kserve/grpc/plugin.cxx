// SPDX-License-Identifier: Apache-2.0
// The library libWireCellSpngGrpc.so. Its one symbol is spng_grpc_plugin().

#include "spng/kserve/grpc_plugin.h"

#include "profiling/recorder/signals_blocked.h"
#include "spng/core/error.h"
#include "spng/kserve/grpc/messages.h"
#include "spng/kserve/grpc/service.h"

#include "inference.grpc.pb.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/grpc.h>
#include <grpcpp/ext/proto_server_reflection_plugin.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/health_check_service_interface.h>
#include <grpcpp/resource_quota.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <sys/stat.h>
#include <utility>

namespace spng::kserve {
namespace {

using grpc::StatusCode;

constexpr const char* service_name = "inference.GRPCInferenceService";

/// Keep gRPC until the process ends: its last user to leave may wait 10 s for a thread that watches connections.
void keep_grpc() {
    const recorder::SignalsBlocked blocked; // its threads inherit the mask
    static const bool is_kept = (grpc_init(), true);
    static_cast<void>(is_kept);
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

class GrpcListener final : public Listener {
public:
    GrpcListener(Address address, Handler& handler, const GrpcLimits& limits)
        : m_address(std::move(address)), m_service(make_service(handler, limits)) {
        keep_grpc();
        const recorder::SignalsBlocked blocked;
        google::protobuf::SetLogHandler(nullptr); // the client gets the error, and stderr no line of its own
        grpc::EnableDefaultHealthCheckService(true);
        grpc::reflection::InitProtoReflectionServerBuilderPlugin();
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
        builder.RegisterService(m_service.get());
        const mode_t before = m_address.is_unix() ? umask(S_IXUSR | S_IRWXG | S_IRWXO) : 0;
        m_server = builder.BuildAndStart();
        if (m_address.is_unix()) {
            umask(before);
        } else {
            m_address.port = static_cast<std::uint16_t>(port);
        }
        m_is_open = m_server != nullptr && port != 0;
        if (m_is_open) {
            m_server->GetHealthCheckService()->SetServingStatus(service_name, true);
        }
    }

    ~GrpcListener() override { stop(0); }

    bool is_open() const { return m_is_open; }
    std::string address() const override { return m_address.text(); }

    void begin_draining() override { m_server->GetHealthCheckService()->SetServingStatus(false); }

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
    std::unique_ptr<grpc::Service> m_service;
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
