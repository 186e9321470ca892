// SPDX-License-Identifier: Apache-2.0
#pragma once
// Requests and responses of the Open Inference Protocol (KServe v2), independent of their transport. Header-
// only and without LibTorch: the plugin for gRPC, a library that must not see LibTorch's symbols, includes it
// too.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace spng::kserve {

/// A value of a request or response besides tensors.
using Parameter = std::variant<bool, std::int64_t, double, std::string>;
using Parameters = std::map<std::string, Parameter>;

/// A tensor in C order. Little-endian, as the protocol demands.
struct Tensor {
    std::string name;
    std::string datatype; ///< "FP32", "INT16", ...
    std::vector<std::int64_t> shape;
    Parameters parameters = {};
    const void* data = nullptr;
    std::size_t bytes = 0;
    std::shared_ptr<const void> owner = {}; ///< keeps `data` alive
};

/// An output that a request asks for.
struct RequestedOutput {
    std::string name;
    Parameters parameters = {};
};

struct InferRequest {
    std::string model;
    std::string version = {}; ///< empty: any
    std::string id = {};      ///< copied to the response
    Parameters parameters = {};
    std::vector<Tensor> inputs = {};
    std::vector<RequestedOutput> outputs = {}; ///< empty: the model's choice
    std::shared_ptr<const void> owner = {};    ///< released with the request: its part of a memory budget
};

struct InferResponse {
    std::string model;
    std::string version = {};
    std::string id = {};
    Parameters parameters = {};
    std::vector<Tensor> outputs = {};
};

struct TensorDescription {
    std::string name;
    std::string datatype;
    std::vector<std::int64_t> shape; ///< -1: any length
};

struct ModelDescription {
    std::string name;
    std::vector<std::string> versions = {"1"};
    std::string platform = {};
    std::vector<TensorDescription> inputs = {};
    std::vector<TensorDescription> outputs = {};
    std::map<std::string, std::string> properties = {};
};

/// Counts and times of a model since its start.
struct ModelStatistics {
    struct Duration {
        std::uint64_t count = 0;
        std::uint64_t ns = 0; ///< of all together
    };
    std::string name;
    std::uint64_t last_ms = 0;        ///< of the last success, since 1970
    Duration success = {}, fail = {}; ///< from the arrival of a request to its result
    Duration queue = {}, run = {};    ///< waiting and running, of requests for which they were measured
};

struct ServerDescription {
    std::string name;
    std::string version;
    std::vector<std::string> extensions = {};
};

/// Kinds of failures, each with its status in HTTP and in gRPC.
enum class Status {
    invalid,     ///< the request: 400, INVALID_ARGUMENT
    not_found,   ///< model, version or path: 404, NOT_FOUND
    too_large,   ///< request beyond the limit: 413, RESOURCE_EXHAUSTED
    overloaded,  ///< queue, connections or memory are used up: 503, RESOURCE_EXHAUSTED
    unavailable, ///< server ends or cannot be reached; may work later: 503, UNAVAILABLE
    timeout,     ///< 504, DEADLINE_EXCEEDED
    failed       ///< while running: 500, INTERNAL
};

struct Failure {
    Status status = Status::failed;
    std::string text; ///< block of an Error, or the words of a foreign server
};

template <class Value>
using Result = std::variant<Value, Failure>;

/// Receives the result of a request. Called once, on any thread; must not throw.
using Done = std::function<void(Result<InferResponse> result)>;

/// Models that are offered to clients. Thread-safe.
class Handler {
public:
    virtual ~Handler() = default;
    virtual ServerDescription describe_server() const = 0;
    virtual std::vector<std::string> model_names() const = 0;
    /// Whether requests are answered at all, and whether new ones are accepted.
    virtual bool is_live() const = 0;
    virtual bool is_ready() const = 0;
    /// @param version  empty: any
    virtual Result<ModelDescription> describe(const std::string& model, const std::string& version) const = 0;
    /// @param model  empty: all models
    virtual Result<std::vector<ModelStatistics>> statistics(const std::string& model,
                                                            const std::string& version) const = 0;
    /// Run a request.
    /// @param transport        "http" or "grpc", for metrics
    /// @param seconds_allowed  of the client; 0: no limit but that of the server
    /// @throws std::exception  for lack of memory; `done` is not called then
    virtual void infer(InferRequest request, const char* transport, double seconds_allowed, Done done) = 0;
};

/// An open address of a server.
class Listener {
public:
    /// As stop() without waiting.
    virtual ~Listener() = default;
    /// The address that clients use, with the port that the system chose.
    virtual std::string address() const = 0;
    /// Tell clients that watch the health of the server that it ends.
    virtual void begin_draining() {}
    /// Accept no more connections, and close the present ones as soon as their responses are written.
    /// @param seconds  maximum time for that; then close them at once
    virtual void stop(double seconds) = 0;
};

/// A connection to the models of another process. Thread-safe.
class RemoteServer {
public:
    virtual ~RemoteServer() = default;
    /// @param seconds  maximum time; 0: no limit
    virtual Result<ModelDescription> describe(const std::string& model, double seconds) = 0;
    /// The data of the request must stay alive during the call.
    virtual Result<InferResponse> infer(const InferRequest& request, double seconds) = 0;
};

} // namespace spng::kserve
