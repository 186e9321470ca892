// SPDX-License-Identifier: Apache-2.0
#include "spng/kserve/http_client.h"

#include "spng/core/error.h"
#include "spng/core/parse_value.h"
#include "spng/kserve/grpc_plugin.h"
#include "spng/kserve/http_stream.h"
#include "spng/kserve/reject_message.h"

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
#include <poll.h>
#include <type_traits>
#include <utility>

namespace spng::kserve {
namespace {

constexpr double connect_seconds = 10;
constexpr std::uint64_t max_response_bytes = std::uint64_t{4} << 30;
constexpr std::uint32_t max_header_bytes = 16384;
constexpr std::size_t max_sent_unasked = std::size_t{1} << 20; // bytes of a body
constexpr std::chrono::seconds reply_timeout{1};               // for servers that do not know the question
constexpr double forever = 1e8;                                // seconds, for requests without limit

Clock::duration duration_of(double seconds) {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

/// Return true for an error of the response; false for one of the connection, which may not happen again.
bool is_of_response(const boost::system::error_code& failure) {
    return failure.category() == make_error_code(http::error::end_of_stream).category() &&
           failure != http::error::end_of_stream && failure != http::error::partial_message;
}

/// Block until there is something to read, at most for a time.
bool is_readable(int socket, std::chrono::milliseconds time) {
    pollfd watched{socket, POLLIN, 0};
    return poll(&watched, 1, static_cast<int>(time.count())) > 0;
}

struct HttpResponse {
    unsigned status = 0;
    BodyView body = {};
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
    using Parser = http::response_parser<http::empty_body>;

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
        co_await write_header(m_stream, request, limits);
        std::optional<Parser> parser;
        bool is_sent = false;
        if (request.count(http::field::expect) == 0 || !is_answered(limits)) {
            is_sent = co_await send(body, limits);
        } else {
            co_await read_header(parser, limits);
            if (parser->get().result_int() / 100 == 1) {
                is_sent = co_await send(body, limits);
            }
        }
        while (!parser || parser->get().result_int() / 100 == 1) {
            co_await read_header(parser, limits);
        }
        HttpResponse response{parser->get().result_int()};
        if (!parser->content_length() && response.status != 200) {
            co_return response; // of a proxy, perhaps: the status tells enough
        }
        const auto memory = memory_of(*parser);
        co_await read_body(m_stream, m_buffer, *memory, limits);
        m_stream.expires_never();
        response.body = BodyMemory::view(memory);
        response.keeps_connection = is_sent && parser->get().keep_alive();
        co_return response;
    }

    /// Wait for the reply to a header that asks whether the body may follow.
    bool is_answered(const TransferLimits& limits) {
        using Milliseconds = std::chrono::milliseconds;
        const auto left = std::chrono::duration_cast<Milliseconds>(limits.end - Clock::now());
        return is_readable(m_stream.socket().native_handle(),
                           std::clamp<Milliseconds>(left, Milliseconds(0), reply_timeout));
    }

    /// Send the body.
    /// @return false if the server has closed the connection, perhaps after a response
    asio::awaitable<bool> send(const Body& body, const TransferLimits& limits) {
        bool is_sent = true;
        try {
            co_await write_body(m_stream, body, limits);
        } catch (const boost::system::system_error& failure) {
            const auto code = failure.code();
            if (code != asio::error::broken_pipe && code != asio::error::connection_reset) {
                throw;
            }
            is_sent = false;
        }
        co_return is_sent;
    }

    asio::awaitable<void> read_header(std::optional<Parser>& parser, const TransferLimits& limits) {
        parser.emplace();
        parser->header_limit(max_header_bytes);
        parser->body_limit(max_response_bytes);
        m_stream.expires_at(limits.end);
        co_await http::async_read_header(m_stream, m_buffer, *parser, asio::use_awaitable);
    }

    /// Return memory for the body that follows a header.
    /// @throws Error(Input) if its length is not known
    static std::shared_ptr<BodyMemory> memory_of(const Parser& parser) {
        const auto length = parser.content_length();
        if (!length) {
            reject_message("response", parser.chunked() ? "a body in chunks" : "a body without length",
                           "a Content-Length");
        }
        const auto given = parser.get()[json_length_header];
        const std::string text(given.data(), given.size());
        const auto json_bytes = text.empty() ? *length : parse_value<std::uint64_t>(text);
        if (!json_bytes || *json_bytes > *length) {
            reject_message("response",
                           std::string(json_length_header) + ": " + text + " in a body of " +
                               std::to_string(*length) + " bytes",
                           "the length of the JSON, at most that of the body");
        }
        return std::make_shared<BodyMemory>(*length, *json_bytes);
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
            if (is_of_response(failure.code())) {
                return Failure{Status::failed,
                               "the response is not one of HTTP: " + failure.code().message()};
            }
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
            if (body.bytes() > max_sent_unasked) {
                request.set(http::field::expect, "100-continue");
            }
        }
        HttpResponse response = exchange(request, body, seconds);
        if (response.status == 417 &&
            request.erase(http::field::expect) > 0) { // a server that cannot be asked
            response = exchange(request, body, seconds);
        }
        return response;
    }

    HttpResponse exchange(http::request<http::empty_body>& request, const Body& body, double seconds) {
        Connected connection = take();
        if (connection) {
            try {
                return finish(std::move(connection), request, body, seconds);
            } catch (const boost::system::system_error& failure) {
                if (failure.code() == beast::error::timeout || is_of_response(failure.code())) {
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
