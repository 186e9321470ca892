// SPDX-License-Identifier: Apache-2.0
// Servers and clients of HTTP and gRPC in one process, with a model of the test.

#include "spng/core/error.h"
#include "spng/kserve/grpc_plugin.h"
#include "spng/kserve/http_client.h"
#include "spng/serve/http_server.h"

#include <atomic>
#include <cstring>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace spng {
namespace {

using namespace kserve;

/// Returns its inputs, or the failure that the parameter "fail" names.
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
    void infer(InferRequest request, const char*, double seconds, Done done) override {
        last_seconds = seconds;
        if (const auto found = request.parameters.find("fail"); found != request.parameters.end()) {
            done(Failure{static_cast<Status>(std::get<std::int64_t>(found->second)),
                         "error: as asked\n  where: here"});
            return;
        }
        InferResponse response{.model = request.model, .version = "1", .id = request.id};
        response.parameters = request.parameters;
        response.outputs = std::move(request.inputs);
        done(std::move(response));
    }

    std::atomic<double> last_seconds{0};
};

enum class Kind { unix_socket, tcp, grpc };

class TransportTest : public ::testing::TestWithParam<Kind> {
protected:
    void SetUp() override {
        const std::string path = ::testing::TempDir() + "kserve-" + std::to_string(getpid()) + ".sock";
        const std::string address = GetParam() == Kind::unix_socket ? "unix:" + path
                                    : GetParam() == Kind::tcp       ? "127.0.0.1:0"
                                                                    : "grpc://127.0.0.1:0";
        if (GetParam() == Kind::grpc) {
            try {
                auto listener =
                    grpc_plugin().listen(parse_address(address, "x"), m_echo, {limits.max_bytes, 8, 60});
                m_listener = std::move(std::get<0>(listener));
            } catch (const Error& error) {
                GTEST_SKIP() << error.what();
            }
        } else {
            m_listener = serve_http(m_threads, parse_address(address, "x"), m_services, limits);
        }
        m_client = make_client(parse_address(m_listener->address(), "x"));
    }

    InferRequest request(std::size_t count) {
        m_values.assign(count, 1.5F);
        InferRequest request{.model = "echo", .id = "7"};
        request.inputs.push_back({.name = "x",
                                  .datatype = "FP32",
                                  .shape = {static_cast<std::int64_t>(count)},
                                  .data = m_values.data(),
                                  .bytes = count * sizeof(float)});
        return request;
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
    std::unique_ptr<Listener> listener;
    try {
        auto result = grpc_plugin().listen(parse_address("grpc://127.0.0.1:0", "x"), echo, {1 << 20, 8, 60});
        listener = std::move(std::get<0>(result));
    } catch (const Error& error) {
        GTEST_SKIP() << error.what();
    }
    const auto client = make_client(parse_address(listener->address(), "x"));
    const float value = 1;
    InferRequest request{.model = "echo"};
    request.inputs = {{.name = "x", .datatype = "FP32", .shape = {1}, .data = &value, .bytes = 4}};
    EXPECT_TRUE(std::holds_alternative<InferResponse>(client->infer(request, 50)));
    EXPECT_GT(echo.last_seconds, 1);
    EXPECT_LE(echo.last_seconds, 51); // gRPC rounds the time in its header up
    EXPECT_TRUE(std::holds_alternative<InferResponse>(client->infer(request, 0)));
    EXPECT_EQ(echo.last_seconds, 0);
}

} // namespace
} // namespace spng
