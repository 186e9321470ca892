// SPDX-License-Identifier: Apache-2.0
#include "spng/serve/http_server.h"

#include "spng/core/error.h"
#include "spng/serve/http_session.h"

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include <future>
#include <list>
#include <mutex>
#include <sys/stat.h>
#include <type_traits>
#include <unistd.h>
#include <utility>

namespace spng {
namespace {

using namespace http_server;

constexpr int max_rejected = 16;                       // connections beyond the limit that are told so
constexpr std::chrono::milliseconds accept_pause{100}; // after a failure, such as too many open files

template <class Protocol>
class HttpListener final : public kserve::Listener {
public:
    using Endpoint = typename Protocol::endpoint;

    HttpListener(IoThreads& threads, const kserve::Address& address, const Endpoint& endpoint,
                 const HttpServices& services, const ServeLimits& limits)
        : m_strand(asio::make_strand(threads.context())), m_acceptor(m_strand), m_pause(m_strand),
          m_address(address), m_shared(std::make_shared<Connections>(services, limits)) {
        m_acceptor.open(endpoint.protocol());
        if (address.is_unix()) {
            // The mode of the new file: it is never open to others.
            fchmod(m_acceptor.native_handle(), S_IRUSR | S_IWUSR);
        } else {
            m_acceptor.set_option(asio::socket_base::reuse_address(true));
        }
        m_acceptor.bind(endpoint);
        m_owns_path = address.is_unix();
        m_acceptor.listen();
        if constexpr (std::is_same_v<Protocol, asio::ip::tcp>) {
            m_address.port = m_acceptor.local_endpoint().port();
        }
        asio::post(m_strand, [this] { accept(); });
    }

    ~HttpListener() override {
        stop(0);
        if (m_owns_path) {
            unlink(m_address.path.c_str());
        }
    }

    std::string address() const override { return m_address.text(); }

    void stop(double seconds) override {
        m_shared->is_stopping = true;
        close_acceptor();
        for_each_session([](auto& session) { session.close_if_idle(); });
        std::unique_lock lock(m_shared->mutex);
        const auto all_ended = [this] { return m_shared->count == 0; };
        if (!m_shared->ended.wait_for(lock, std::chrono::duration<double>(seconds), all_ended)) {
            lock.unlock();
            for_each_session([](auto& session) { session.close(); });
            lock.lock();
            m_shared->ended.wait_for(lock, linger, all_ended);
        }
    }

private:
    using Strand = asio::strand<asio::io_context::executor_type>;
    using Socket = asio::basic_stream_socket<Protocol, Strand>;
    using SessionList = std::list<std::weak_ptr<Session<Protocol>>>;

    void close_acceptor() {
        std::promise<void> closed;
        asio::post(m_strand, [&] {
            error_code ignored;
            m_acceptor.close(ignored);
            m_pause.cancel();
            closed.set_value();
        });
        closed.get_future().wait();
    }

    template <class Use>
    void for_each_session(Use use) {
        const std::lock_guard lock(m_sessions_mutex);
        for (const auto& each : m_sessions) {
            if (const auto session = each.lock()) {
                use(*session);
            }
        }
    }

    void accept() {
        if (!m_acceptor.is_open()) {
            return;
        }
        // A handler that runs after stop() must not touch this object, which may be gone.
        m_acceptor.async_accept(asio::make_strand(m_strand.get_inner_executor()),
                                [this, shared = m_shared](error_code failure, Socket socket) {
                                    if (!shared->is_stopping) {
                                        accepted(failure, std::move(socket));
                                    }
                                });
    }

    void accepted(error_code failure, Socket socket) {
        if (!failure) {
            accept(); // first: a connection for which there is no memory must not be the last one
            try {
                begin(std::move(socket));
            } catch (...) {
                log::warn("server", current_error().text().what);
            }
            return;
        }
        m_pause.expires_after(accept_pause);
        m_pause.async_wait([this, shared = m_shared](error_code) {
            if (!shared->is_stopping) {
                accept();
            }
        });
    }

    void begin(Socket socket) {
        if constexpr (std::is_same_v<Protocol, asio::ip::tcp>) { // header and body are two writes
            error_code ignored;
            socket.set_option(asio::ip::tcp::no_delay(true), ignored);
        }
        const int before = m_shared->count;
        const auto session = std::make_shared<Session<Protocol>>(std::move(socket), m_shared);
        if (before >= m_shared->limits.max_connections + max_rejected) {
            return; // too many even to be told so
        }
        if (before >= m_shared->limits.max_connections) {
            session->begin_rejected();
            return;
        }
        {
            const std::lock_guard lock(m_sessions_mutex);
            m_sessions.remove_if([](const auto& each) { return each.expired(); });
            m_sessions.push_back(session);
        }
        session->begin();
    }

    Strand m_strand;
    asio::basic_socket_acceptor<Protocol> m_acceptor;
    asio::steady_timer m_pause;
    kserve::Address m_address;
    bool m_owns_path = false;
    std::shared_ptr<Connections> m_shared;
    std::mutex m_sessions_mutex;
    SessionList m_sessions;
};

asio::ip::tcp::endpoint endpoint_of(const kserve::Address& address) {
    asio::io_context context;
    asio::ip::tcp::resolver resolver(context);
    error_code failure;
    const auto found = resolver.resolve(address.host, std::to_string(address.port),
                                        asio::ip::resolver_base::passive, failure);
    if (failure || found.empty()) {
        reject_address(address, failure.message(), "a name or number of this machine");
    }
    return found.begin()->endpoint();
}

} // namespace

void reject_address(const kserve::Address& address, const std::string& seen, const std::string& hint) {
    throw Error(ErrorKind::Usage, {.what = "the server cannot open its address",
                                   .where = "--serve " + address.text(),
                                   .seen = seen,
                                   .expected = "an address that is free, and that you may use",
                                   .hint = hint});
}

void require_free_socket(const std::string& path) {
    struct stat found {};
    if (lstat(path.c_str(), &found) != 0) {
        return;
    }
    kserve::Address address;
    address.path = path;
    if (!S_ISSOCK(found.st_mode)) {
        reject_address(address, "a file that is no socket", "remove it, or give another path");
    }
    asio::io_context context;
    asio::local::stream_protocol::socket probe(context);
    error_code failure;
    if (probe.connect(asio::local::stream_protocol::endpoint(path), failure) !=
        asio::error::connection_refused) {
        reject_address(address, failure ? failure.message() : "another process that listens",
                       "give another path");
    }
    unlink(path.c_str()); // of a server that was killed
}

std::unique_ptr<kserve::Listener> serve_http(IoThreads& threads, const kserve::Address& address,
                                             const HttpServices& services, const ServeLimits& limits) {
    try {
        if (!address.is_unix()) {
            return std::make_unique<HttpListener<asio::ip::tcp>>(threads, address, endpoint_of(address),
                                                                 services, limits);
        }
        using Unix = asio::local::stream_protocol;
        require_free_socket(address.path);
        return std::make_unique<HttpListener<Unix>>(threads, address, Unix::endpoint(address.path), services,
                                                    limits);
    } catch (const boost::system::system_error& failure) {
        reject_address(address, failure.code().message(), "give another one; port 0 takes a free port");
    }
}

} // namespace spng
