// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/control/control_server.h"

#include "spng/instrument/control/control_answer.h"

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>

#include <chrono>
#include <list>
#include <memory>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

namespace spng::instrument {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using Failure = boost::system::error_code;

// Our requests have a few hundred bytes. A client that exceeds the timeout counts as disconnected.
constexpr std::size_t longest_header = 8192;
constexpr std::size_t longest_body = 1024;
constexpr std::chrono::seconds request_timeout{5};
constexpr std::size_t max_connections = 16;
constexpr std::chrono::milliseconds accept_pause{100}; // after a failure, such as too many open files

/// A connection: one request, one answer.
template <class Protocol>
class Connection : public std::enable_shared_from_this<Connection<Protocol>> {
public:
    Connection(typename Protocol::socket socket, const std::string& token)
        : m_stream(std::move(socket)), m_token(token) {
        m_parser.header_limit(longest_header);
        m_parser.body_limit(longest_body);
    }
    void begin() {
        m_stream.expires_after(request_timeout);
        http::async_read(
            m_stream, m_buffer, m_parser,
            [self = this->shared_from_this()](Failure failure, std::size_t) { self->reply(failure); });
    }

    void close() { m_stream.close(); }

private:
    void reply(Failure failure) {
        if (failure == http::error::end_of_stream || failure == beast::error::timeout ||
            failure == asio::error::operation_aborted) {
            return;
        }
        if (failure == http::error::body_limit) {
            m_answer = error_response(http::status::payload_too_large, "the body is too large");
        } else if (failure == http::error::header_limit) {
            m_answer =
                error_response(http::status::request_header_fields_too_large, "the header is too large");
        } else if (failure) {
            m_answer = error_response(http::status::bad_request, "this is not a request");
        } else {
            m_answer = answer(m_parser.get(), m_token);
        }
        m_stream.expires_after(request_timeout);
        http::async_write(m_stream, m_answer, [self = this->shared_from_this()](Failure, std::size_t) {
            Failure ignored;
            self->m_stream.socket().shutdown(Protocol::socket::shutdown_send, ignored);
        });
    }

    beast::basic_stream<Protocol> m_stream;
    const std::string m_token;
    beast::flat_buffer m_buffer{longest_header + longest_body};
    http::request_parser<http::string_body> m_parser;
    ControlResponse m_answer;
};

template <class Protocol>
class Server final : public ControlServer {
public:
    Server(asio::io_context& context, const typename Protocol::endpoint& endpoint, std::string path,
           std::string token)
        : m_acceptor(context), m_pause(context), m_path(std::move(path)), m_token(std::move(token)) {
        m_acceptor.open(endpoint.protocol());
        if (m_path.empty()) {
            m_acceptor.set_option(asio::socket_base::reuse_address(true));
            m_acceptor.bind(endpoint);
        } else {
            bind_private(endpoint);
        }
        m_acceptor.listen();
        accept();
    }

    ~Server() override {
        if (!m_path.empty()) {
            unlink(m_path.c_str());
        }
    }

    std::string address() const override {
        if constexpr (std::is_same_v<Protocol, asio::ip::tcp>) {
            return "http://127.0.0.1:" + std::to_string(m_acceptor.local_endpoint().port());
        } else {
            return "unix:" + m_path;
        }
    }

private:
    /// Bind the socket with its final mode, so that it is never open to others.
    void bind_private(const typename Protocol::endpoint& endpoint) {
        const mode_t before = umask(S_IXUSR | S_IRWXG | S_IRWXO);
        Failure failure;
        m_acceptor.bind(endpoint, failure);
        umask(before);
        if (failure) {
            m_path.clear(); // the socket of another job
            throw boost::system::system_error(failure);
        }
    }

    void accept() {
        m_acceptor.async_accept([this](Failure failure, typename Protocol::socket socket) {
            if (failure == asio::error::operation_aborted) {
                return;
            }
            if (failure) {
                m_pause.expires_after(accept_pause);
                m_pause.async_wait([this](Failure stopped) {
                    if (!stopped) {
                        accept();
                    }
                });
                return;
            }
            make_room();
            m_connections.push_back(begin(std::move(socket)));
            accept();
        });
    }

    std::weak_ptr<Connection<Protocol>> begin(typename Protocol::socket socket) const {
        const auto connection = std::make_shared<Connection<Protocol>>(std::move(socket), m_token);
        connection->begin();
        return connection;
    }

    /// Close the oldest connection if there are too many: clients that send nothing must not keep others out.
    void make_room() {
        m_connections.remove_if([](const auto& connection) { return connection.expired(); });
        if (m_connections.size() >= max_connections) {
            if (const auto oldest = m_connections.front().lock()) {
                oldest->close();
            }
            m_connections.pop_front();
        }
    }

    asio::basic_socket_acceptor<Protocol> m_acceptor;
    asio::steady_timer m_pause;
    std::string m_path;
    const std::string m_token;
    std::list<std::weak_ptr<Connection<Protocol>>> m_connections; ///< oldest first
};

/// Remove the socket of a killed job, on which no process listens.
void remove_stale(asio::io_context& context, const asio::local::stream_protocol::endpoint& endpoint) {
    struct stat found {};
    if (lstat(endpoint.path().c_str(), &found) != 0 || !S_ISSOCK(found.st_mode)) {
        return;
    }
    asio::local::stream_protocol::socket probe(context);
    Failure failure;
    if (probe.connect(endpoint, failure) == asio::error::connection_refused) {
        unlink(endpoint.path().c_str());
    }
}

} // namespace

std::unique_ptr<ControlServer> serve(asio::io_context& context, const ControlAddress& address) {
    if (address.path.empty()) {
        const asio::ip::tcp::endpoint here(asio::ip::address_v4::loopback(), address.port);
        return std::make_unique<Server<asio::ip::tcp>>(context, here, "", address.token);
    }
    const asio::local::stream_protocol::endpoint here(address.path);
    remove_stale(context, here);
    return std::make_unique<Server<asio::local::stream_protocol>>(context, here, address.path, "");
}

} // namespace spng::instrument
