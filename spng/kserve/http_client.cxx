// SPDX-License-Identifier: Apache-2.0
#include "spng/kserve/http_client.h"

#include "spng/core/error.h"
#include "spng/core/parse_value.h"
#include "spng/kserve/grpc_plugin.h"
#include "spng/kserve/http_stream.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>

#include <exception>
#include <mutex>
#include <type_traits>
#include <utility>

namespace spng::kserve {
namespace {

constexpr double connect_seconds = 10;
constexpr std::uint64_t max_response_bytes = std::uint64_t{4} << 30;
constexpr std::uint32_t max_header_bytes = 16384;
constexpr double forever = 1e8; // seconds, for requests without limit

Clock::duration duration_of(double seconds) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

struct HttpResponse {
    unsigned status = 0;
    BodyView body;
    bool keeps_connection = false;
};

/// A connection with a loop of its own, which the calling thread runs for the time of a request.
template <class Protocol>
class Connection {
public:
    using Endpoint = typename Protocol::endpoint;

    Connection() : m_stream(m_context) {}

    HttpResponse exchange(const std::vector<Endpoint>& endpoints, http::request<http::empty_body>& request,
                          const Body& body, double seconds) {
        std::exception_ptr failure;
        std::optional<HttpResponse> response;
        asio::co_spawn(
            m_context,
            [&]() -> asio::awaitable<void> { response = co_await run(endpoints, request, body, seconds); },
            [&](std::exception_ptr error) { failure = std::move(error); });
        m_context.restart();
        m_context.run();
        if (failure) {
            std::rethrow_exception(failure);
        }
        return std::move(*response);
    }

private:
    asio::awaitable<HttpResponse> run(const std::vector<Endpoint>& endpoints,
                                      http::request<http::empty_body>& request, const Body& body,
                                      double seconds) {
        const Clock::duration all = duration_of(seconds > 0 ? seconds : forever);
        const TransferLimits limits{.piece = all, .end = Clock::now() + all};
        if (!m_stream.socket().is_open()) {
            m_stream.expires_at(std::min(limits.end, Clock::now() + duration_of(connect_seconds)));
            co_await m_stream.async_connect(endpoints, asio::use_awaitable);
            if constexpr (std::is_same_v<Protocol, asio::ip::tcp>) { // header and body are two writes
                m_stream.socket().set_option(asio::ip::tcp::no_delay(true));
            }
        }
        co_await write_message(m_stream, request, body, limits);
        http::response_parser<http::empty_body> parser;
        parser.header_limit(max_header_bytes);
        parser.body_limit(max_response_bytes);
        m_stream.expires_at(limits.end);
        co_await http::async_read_header(m_stream, m_buffer, parser, asio::use_awaitable);
        const auto length = parser.content_length();
        const auto given = parser.get()[json_length_header];
        const auto json_bytes = given.empty()
                                    ? length.value_or(0)
                                    : parse_value<std::uint64_t>({given.data(), given.size()}).value_or(0);
        if (!length || json_bytes > *length) {
            throw boost::system::system_error(make_error_code(http::error::bad_content_length));
        }
        auto memory = std::make_shared<BodyMemory>(*length, json_bytes);
        co_await read_body(m_stream, m_buffer, *memory, limits);
        m_stream.expires_never();
        HttpResponse response{parser.get().result_int(), BodyMemory::view(memory), parser.get().keep_alive()};
        co_return response;
    }

    asio::io_context m_context{1};
    beast::basic_stream<Protocol> m_stream;
    beast::flat_buffer m_buffer;
};

Status status_of(unsigned http_status) {
    switch (http_status) {
    case 400:
    case 422:
        return Status::invalid;
    case 404:
        return Status::not_found;
    case 413:
        return Status::too_large;
    case 429:
    case 503: // also of a server that ends: both may work later
        return Status::overloaded;
    case 502:
        return Status::unavailable;
    case 504:
        return Status::timeout;
    default:
        return Status::failed;
    }
}

template <class Protocol>
class HttpClient final : public RemoteServer {
public:
    HttpClient(std::vector<typename Protocol::endpoint> endpoints, std::string host)
        : m_endpoints(std::move(endpoints)), m_host(std::move(host)) {}

    Result<ModelDescription> describe(const std::string& model, double seconds) override {
        return received(http::verb::get, path_of(model), {}, seconds,
                        [&](const BodyView& body) { return parse_model_description(body.json, model); });
    }

    Result<InferResponse> infer(const InferRequest& request, double seconds) override {
        return received(http::verb::post, path_of(request.model) + "/infer", encode_request(request), seconds,
                        [&](const BodyView& body) { return parse_infer_response(body, request.model); });
    }

private:
    using Connected = std::unique_ptr<Connection<Protocol>>;

    static std::string path_of(const std::string& model) { return "/v2/models/" + model; }

    template <class Parse>
    auto received(http::verb verb, const std::string& path, const Body& body, double seconds,
                  Parse parse) -> Result<decltype(parse(std::declval<BodyView>()))> {
        try {
            const HttpResponse response = exchange(verb, path, body, seconds);
            if (response.status != 200) {
                return Failure{status_of(response.status), "HTTP status " + std::to_string(response.status) +
                                                               ": " + error_of_json(response.body.json)};
            }
            return parse(response.body);
        } catch (const Error& error) {
            return Failure{Status::failed, error.text().what + ": " + error.text().seen};
        } catch (const boost::system::system_error& failure) {
            const bool is_late = failure.code() == beast::error::timeout;
            return Failure{is_late ? Status::timeout : Status::unavailable,
                           is_late ? "no response in time" : failure.code().message()};
        }
    }

    HttpResponse exchange(http::verb verb, const std::string& path, const Body& body, double seconds) {
        http::request<http::empty_body> request(verb, path, 11);
        request.set(http::field::host, m_host);
        request.set(http::field::user_agent, "spng");
        if (verb == http::verb::post) {
            request.set(http::field::content_type, "application/octet-stream");
            request.set(json_length_header, std::to_string(body.json.size()));
            request.content_length(body.bytes());
        }
        Connected connection = take();
        if (connection) {
            try {
                return finish(std::move(connection), request, body, seconds);
            } catch (const boost::system::system_error& failure) {
                if (failure.code() == beast::error::timeout) {
                    throw;
                } // the server has closed a connection that was not used for some time
            }
        }
        return finish(std::make_unique<Connection<Protocol>>(), request, body, seconds);
    }

    HttpResponse finish(Connected connection, http::request<http::empty_body>& request, const Body& body,
                        double seconds) {
        HttpResponse response = connection->exchange(m_endpoints, request, body, seconds);
        if (response.keeps_connection) {
            const std::lock_guard lock(m_mutex);
            m_idle.push_back(std::move(connection));
        }
        return response;
    }

    Connected take() {
        const std::lock_guard lock(m_mutex);
        if (m_idle.empty()) {
            return nullptr;
        }
        Connected connection = std::move(m_idle.back());
        m_idle.pop_back();
        return connection;
    }

    const std::vector<typename Protocol::endpoint> m_endpoints;
    const std::string m_host;
    std::mutex m_mutex;
    std::vector<Connected> m_idle;
};

/// A client whose server's name is not known: each request fails.
class Unreachable final : public RemoteServer {
public:
    explicit Unreachable(std::string reason) : m_failure{Status::unavailable, std::move(reason)} {}
    Result<ModelDescription> describe(const std::string&, double) override { return m_failure; }
    Result<InferResponse> infer(const InferRequest&, double) override { return m_failure; }

private:
    Failure m_failure;
};

} // namespace

std::unique_ptr<RemoteServer> make_http_client(const Address& address) {
    if (address.is_unix()) {
        using Unix = asio::local::stream_protocol;
        return std::make_unique<HttpClient<Unix>>(std::vector<Unix::endpoint>{Unix::endpoint(address.path)},
                                                  "localhost");
    }
    asio::io_context context;
    asio::ip::tcp::resolver resolver(context);
    boost::system::error_code failure;
    std::vector<asio::ip::tcp::endpoint> endpoints;
    for (const auto& found : resolver.resolve(address.host, std::to_string(address.port), failure)) {
        endpoints.push_back(found.endpoint());
    }
    if (endpoints.empty()) {
        return std::make_unique<Unreachable>("the host is not known: " + failure.message());
    }
    return std::make_unique<HttpClient<asio::ip::tcp>>(std::move(endpoints),
                                                       address.host + ":" + std::to_string(address.port));
}

std::unique_ptr<RemoteServer> make_client(const Address& address) {
    return address.protocol == Address::Protocol::grpc ? make_grpc_client(address)
                                                       : make_http_client(address);
}

} // namespace spng::kserve
