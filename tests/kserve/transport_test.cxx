// SPDX-License-Identifier: Apache-2.0
// Servers and clients of HTTP and gRPC in one process, with a model of the test.

#include "spng/core/error.h"
#include "spng/kserve/grpc_plugin.h"
#include "spng/kserve/http_client.h"
#include "spng/serve/http_server.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <future>
#include <gtest/gtest.h>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace spng {
namespace {

using namespace kserve;

/// Returns its inputs, or the failure that the parameter "fail" names. Throws for the parameter "throw".
class Echo final : public Handler {
public:
    ServerDescription describe_server() const override { return {"echo", "1", {}}; }
    std::vector<std::string> model_names() const override { return {"echo"}; }
    bool is_live() const override { return true; }
    bool is_ready() const override { return true; }
    Result<ModelDescription> describe(const std::string& model, const std::string&) const override {
        if (model != "echo") {
            return Failure{Status::not_found, "no such model"};
        }
        ModelDescription description{.name = "echo", .platform = "test"};
        description.inputs = {{"x", "FP32", {-1}}};
        description.properties = {{"sha256", "0"}};
        return description;
    }
    Result<std::vector<ModelStatistics>> statistics(const std::string&, const std::string&) const override {
        return std::vector<ModelStatistics>{{.name = "echo", .success = {.count = 3, .ns = 5}}};
    }
    void infer(InferRequest request, const char*, double seconds, Done done) override {
        last_seconds = seconds;
        if (request.parameters.contains("throw")) {
            throw std::runtime_error("as asked");
        }
        if (const auto found = request.parameters.find("fail"); found != request.parameters.end()) {
            done(Failure{static_cast<Status>(std::get<std::int64_t>(found->second)),
                         "error: as asked\n  where: here"});
            return;
        }
        if (holds) {
            const std::lock_guard lock(m_mutex);
            m_held.emplace_back(std::move(request), std::move(done));
            m_changed.notify_all();
            return;
        }
        respond(std::move(request), done);
    }

    /// Block until this many requests are held.
    void wait_for(std::size_t count) {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [&] { return m_held.size() == count; });
    }
    void release() {
        const std::lock_guard lock(m_mutex);
        for (auto& [request, done] : std::exchange(m_held, {})) {
            respond(std::move(request), done);
        }
    }

    std::atomic<double> last_seconds{0};
    std::atomic<bool> holds{false}; ///< keep requests until release()

private:
    static void respond(InferRequest request, const Done& done) {
        InferResponse response{.model = request.model, .version = "1", .id = request.id};
        response.parameters = request.parameters;
        response.outputs = std::move(request.inputs);
        done(std::move(response));
    }

    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::vector<std::pair<InferRequest, Done>> m_held;
};

/// Open an address for gRPC; return null if this build has none.
std::unique_ptr<Listener> listen_grpc(Handler& handler, const GrpcLimits& limits) {
    try {
        return std::move(
            std::get<0>(grpc_plugin().listen(parse_address("grpc://127.0.0.1:0", "x"), handler, limits)));
    } catch (const Error&) {
        return nullptr;
    }
}

Status status_of(const Result<InferResponse>& result) {
    const auto* const failure = std::get_if<Failure>(&result);
    EXPECT_NE(failure, nullptr);
    return failure == nullptr ? Status::failed : failure->status;
}

/// Return a request with a tensor, whose values must outlive it.
InferRequest request_of(const std::vector<float>& values) {
    InferRequest request{.model = "echo", .id = "7"};
    request.inputs.push_back({.name = "x",
                              .datatype = "FP32",
                              .shape = {static_cast<std::int64_t>(values.size())},
                              .data = values.data(),
                              .bytes = values.size() * sizeof(float)});
    return request;
}

enum class Kind { unix_socket, tcp, grpc };

class TransportTest : public ::testing::TestWithParam<Kind> {
protected:
    void SetUp() override {
        const std::string path = ::testing::TempDir() + "kserve-" + std::to_string(getpid()) + ".sock";
        if (GetParam() == Kind::grpc) {
            m_listener = listen_grpc(m_echo, {limits.max_bytes, 8, 60});
            if (!m_listener) {
                GTEST_SKIP() << "built without gRPC";
            }
        } else {
            const std::string address = GetParam() == Kind::unix_socket ? "unix:" + path : "127.0.0.1:0";
            m_listener = serve_http(m_threads, parse_address(address, "x"), m_services, limits);
        }
        m_client = make_client(parse_address(m_listener->address(), "x"));
    }

    InferRequest request(std::size_t count) {
        m_values.assign(count, 1.5F);
        return request_of(m_values);
    }

    const ServeLimits limits{.max_bytes = 1 << 22};
    IoThreads m_threads{2};
    Echo m_echo;
    HttpServices m_services{m_echo, [] { return std::string("metric 1\n"); }};
    std::unique_ptr<Listener> m_listener;
    std::unique_ptr<RemoteServer> m_client;
    std::vector<float> m_values;
};

TEST_P(TransportTest, TensorsAndParametersComeBack) {
    for (const std::size_t count :
         {std::size_t{1}, std::size_t{3}, std::size_t{100'000}, std::size_t{1'000'000}}) {
        InferRequest sent = request(count);
        sent.parameters = {
            {"flag", false}, {"count", std::int64_t{1} << 40}, {"ratio", 0.25}, {"text", std::string("ä")}};
        const auto result = m_client->infer(sent, 60);
        ASSERT_TRUE(std::holds_alternative<InferResponse>(result)) << std::get<Failure>(result).text;
        const auto& response = std::get<InferResponse>(result);
        EXPECT_EQ(response.id, "7");
        for (const auto& [name, value] : sent.parameters) {
            EXPECT_EQ(response.parameters.at(name), value) << name;
        }
        ASSERT_EQ(response.outputs.size(), 1U);
        ASSERT_EQ(response.outputs[0].bytes, count * sizeof(float));
        EXPECT_EQ(std::memcmp(response.outputs[0].data, m_values.data(), count * sizeof(float)), 0);
    }
}

TEST_P(TransportTest, FailuresKeepTheirKindAndText) {
    for (const Status status : {Status::invalid, Status::not_found, Status::too_large, Status::unavailable,
                                Status::timeout, Status::failed}) {
        InferRequest sent = request(3);
        sent.parameters = {{"fail", static_cast<std::int64_t>(status)}};
        const auto result = m_client->infer(sent, 60);
        ASSERT_TRUE(std::holds_alternative<Failure>(result));
        const Failure& failure = std::get<Failure>(result);
        EXPECT_NE(failure.text.find("as asked\n  where: here"), std::string::npos) << failure.text;
        if (GetParam() != Kind::grpc ||
            status != Status::too_large) { // gRPC has one status for it and a full queue
            const bool is_busy =
                GetParam() != Kind::grpc && status == Status::unavailable; // HTTP has 503 for both
            EXPECT_EQ(failure.status, is_busy ? Status::overloaded : status) << failure.text;
        }
    }
}

TEST_P(TransportTest, LargeRequestsAreRejected) {
    const auto result = m_client->infer(request(limits.max_bytes / sizeof(float) + 1), 60);
    ASSERT_TRUE(std::holds_alternative<Failure>(result));
    EXPECT_EQ(std::get<Failure>(result).status, Status::too_large) << std::get<Failure>(result).text;
    EXPECT_TRUE(std::holds_alternative<InferResponse>(m_client->infer(request(3), 60)));
}

TEST_P(TransportTest, RequestsWithoutResponseShareMemory) {
    m_echo.holds = true;
    const InferRequest sent = request(limits.max_bytes / sizeof(float) - 1000); // two of them fit
    const auto send = [&] { return m_client->infer(sent, 60); };
    auto first = std::async(std::launch::async, send);
    auto second = std::async(std::launch::async, send);
    m_echo.wait_for(2);
    EXPECT_EQ(status_of(send()), Status::overloaded);
    m_echo.release();
    EXPECT_TRUE(std::holds_alternative<InferResponse>(first.get()));
    EXPECT_TRUE(std::holds_alternative<InferResponse>(second.get()));
}

TEST_P(TransportTest, ModelsAreDescribed) {
    const auto result = m_client->describe("echo", 60);
    ASSERT_TRUE(std::holds_alternative<ModelDescription>(result)) << std::get<Failure>(result).text;
    const auto& model = std::get<ModelDescription>(result);
    EXPECT_EQ(model.platform, "test");
    EXPECT_EQ(model.properties.at("sha256"), "0");
    EXPECT_EQ(model.inputs.at(0).shape, std::vector<std::int64_t>{-1});
    const auto unknown = m_client->describe("other", 60);
    ASSERT_TRUE(std::holds_alternative<Failure>(unknown));
    EXPECT_EQ(std::get<Failure>(unknown).status, Status::not_found);
}

TEST_P(TransportTest, AClientOutlivesItsServer) {
    EXPECT_TRUE(std::holds_alternative<InferResponse>(m_client->infer(request(3), 60)));
    m_listener.reset();
    const auto result = m_client->infer(request(3), 60);
    ASSERT_TRUE(std::holds_alternative<Failure>(result));
    EXPECT_EQ(std::get<Failure>(result).status, Status::unavailable);
}

INSTANTIATE_TEST_SUITE_P(All, TransportTest, ::testing::Values(Kind::unix_socket, Kind::tcp, Kind::grpc));

TEST(GrpcPluginTest, DeadlinesReachTheServer) {
    Echo echo;
    const auto listener = listen_grpc(echo, {1 << 20, 8, 60});
    if (!listener) {
        GTEST_SKIP() << "built without gRPC";
    }
    const auto client = make_client(parse_address(listener->address(), "x"));
    const std::vector<float> values{1};
    const InferRequest request = request_of(values);
    EXPECT_TRUE(std::holds_alternative<InferResponse>(client->infer(request, 50)));
    EXPECT_GT(echo.last_seconds, 1);
    EXPECT_LE(echo.last_seconds, 51); // gRPC rounds the time in its header up
    EXPECT_TRUE(std::holds_alternative<InferResponse>(client->infer(request, 0)));
    EXPECT_EQ(echo.last_seconds, 0);
}

TEST(GrpcPluginTest, ExceptionsLeaveRoomForRequests) {
    Echo echo;
    const auto listener = listen_grpc(echo, {1 << 20, 2, 60});
    if (!listener) {
        GTEST_SKIP() << "built without gRPC";
    }
    const auto client = make_client(parse_address(listener->address(), "x"));
    const std::vector<float> values{1};
    InferRequest request = request_of(values);
    request.parameters = {{"throw", true}};
    for (int i = 0; i < 4; ++i) {
        EXPECT_EQ(status_of(client->infer(request, 60)), Status::failed);
    }
    EXPECT_TRUE(std::holds_alternative<InferResponse>(client->infer(request_of(values), 60)));
}

/// Writes fixed bytes after the header of a request, and closes the connection without reading the body.
class FixedServer {
public:
    explicit FixedServer(std::string response, std::chrono::milliseconds pause = {})
        : m_response(std::move(response)), m_pause(pause) {
        std::filesystem::remove(m_path);
        m_acceptor = Unix::acceptor(m_context, Unix::endpoint(m_path));
        m_thread = std::thread([this] { serve(); });
    }
    ~FixedServer() {
        m_ends = true;
        Unix::socket(m_context).connect(Unix::endpoint(m_path));
        m_thread.join();
        std::filesystem::remove(m_path);
    }

    Result<InferResponse> answer(std::size_t count) const {
        const std::vector<float> values(count, 1.5F);
        return make_client(parse_address("unix:" + m_path, "x"))->infer(request_of(values), 60);
    }

private:
    using Unix = boost::asio::local::stream_protocol;

    void serve() {
        for (;;) {
            Unix::socket socket = m_acceptor.accept();
            if (m_ends) {
                return;
            }
            boost::system::error_code ignored;
            std::string header;
            boost::asio::read_until(socket, boost::asio::dynamic_buffer(header), "\r\n\r\n", ignored);
            std::this_thread::sleep_for(m_pause);
            boost::asio::write(socket, boost::asio::buffer(m_response), ignored);
        }
    }

    const std::string m_response;
    const std::chrono::milliseconds m_pause;
    const std::string m_path = ::testing::TempDir() + "fixed-" + std::to_string(getpid()) + ".sock";
    boost::asio::io_context m_context;
    Unix::acceptor m_acceptor{m_context};
    std::atomic<bool> m_ends{false};
    std::thread m_thread;
};

TEST(HttpClientTest, ResponsesThatCannotBeReadAreNotTriedAgain) {
    for (const char* response :
         {"SSH-2.0-x\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
          "HTTP/1.1 200 OK\r\n\r\n{}",
          "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nInference-Header-Content-Length: 3\r\n\r\n{}"}) {
        EXPECT_EQ(status_of(FixedServer(response).answer(3)), Status::failed) << response;
    }
    EXPECT_EQ(status_of(FixedServer("").answer(3)), Status::unavailable);
}

TEST(HttpClientTest, AStatusNeedsNoBody) {
    EXPECT_EQ(status_of(FixedServer("HTTP/1.1 503 Busy\r\n\r\n").answer(3)), Status::overloaded);
}

/// At once, and while the client sends: it waits a second for the reply to its header.
TEST(HttpClientTest, ErrorsThatComeBeforeTheBodyAreRead) {
    const std::string response = "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\n{}";
    for (const int pause : {0, 1500}) {
        const FixedServer server(response, std::chrono::milliseconds(pause));
        EXPECT_EQ(status_of(server.answer(10'000'000)), Status::too_large) << pause;
    }
}

} // namespace
} // namespace spng
