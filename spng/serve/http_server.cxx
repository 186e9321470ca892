// SPDX-License-Identifier: Apache-2.0
#include "spng/serve/http_server.h"

#include "spng/core/error.h"
#include "spng/core/log/log.h"
#include "spng/core/parse_value.h"
#include "spng/device/memory/out_of_memory.h"
#include "spng/kserve/http_stream.h"
#include "spng/serve/http_reply.h"
#include "spng/serve/served_model.h"

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>

#include <atomic>
#include <condition_variable>
#include <future>
#include <limits>
#include <list>
#include <mutex>
#include <optional>
#include <sys/stat.h>
#include <type_traits>
#include <unistd.h>
#include <utility>

namespace spng {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;
using kserve::Clock;

constexpr std::uint32_t max_header_bytes = 16384;
constexpr std::size_t max_parameter_bytes = std::size_t{1} << 16; // of bodies that are read and ignored
constexpr int max_rejected = 16;                       // connections beyond the limit that are told so
constexpr std::chrono::milliseconds accept_pause{100}; // after a failure, such as too many open files
constexpr std::chrono::seconds linger{2};              // so that a client that still sends reads its error
constexpr double forever = 1e8;                        // seconds

Clock::duration duration_of(double seconds) {
    return std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(seconds > 0 ? seconds : forever));
}

/// Memory of bodies that exist at the moment.
class BodyBudget {
public:
    explicit BodyBudget(std::size_t bytes) : m_free(bytes) {}

    /// Return memory for a body; null if too much is in use.
    static std::shared_ptr<kserve::BodyMemory> take(const std::shared_ptr<BodyBudget>& budget,
                                                    std::size_t bytes, std::size_t json_bytes) {
        std::size_t free = budget->m_free;
        do {
            if (bytes > free) {
                return nullptr;
            }
        } while (!budget->m_free.compare_exchange_weak(free, free - bytes));
        const std::shared_ptr<void> reserved(nullptr, [budget, bytes](void*) { budget->m_free += bytes; });
        auto memory = std::make_unique<kserve::BodyMemory>(bytes, json_bytes);
        return {memory.release(), [reserved](kserve::BodyMemory* body) { delete body; }};
    }

private:
    std::atomic<std::size_t> m_free;
};

/// State of an address that its connections share.
struct Shared {
    HttpServices services;
    ServeLimits limits;
    std::shared_ptr<BodyBudget> budget;
    std::atomic<int> connections{0};
    std::atomic<bool> is_stopping{false};
    std::mutex mutex;
    std::condition_variable ended; ///< a connection
};

HttpReply too_large(std::uint64_t bytes, std::size_t limit) {
    return error_reply(413,
                       Error(ErrorKind::Input, {.what = "the request is too large",
                                                .where = "request",
                                                .seen = std::to_string(bytes) + " bytes",
                                                .expected = "at most " + std::to_string(limit) + " bytes",
                                                .hint = "wire-cell --serve-max-bytes BYTES raises the limit"})
                           .what());
}

HttpReply bad_request(unsigned status, const std::string& seen, const std::string& expected) {
    return error_reply(
        status, Error(ErrorKind::Input, {.what = "this is not a request of the Open Inference Protocol "
                                                 "(KServe v2) over HTTP",
                                         .where = "request",
                                         .seen = seen,
                                         .expected = expected,
                                         .hint = "docs/server.md has examples"})
                    .what());
}

HttpReply overloaded(const std::string& seen, const std::string& expected) {
    return error_reply(503, Error(ErrorKind::Device, {.what = "the server is busy",
                                                      .where = "request",
                                                      .seen = seen,
                                                      .expected = expected,
                                                      .hint = "send it again later"})
                                .what());
}

/// The length of a request's body, or the reply that rejects it.
struct BodyLength {
    std::size_t bytes = 0, json_bytes = 0;
    std::optional<HttpReply> rejection{};
};

template <class Parser>
BodyLength length_of(const Parser& parser, std::size_t limit) {
    const auto& header = parser.get();
    const auto text = [&](auto field) { return std::string(header[field]); };
    const std::string encoding = text(http::field::content_encoding);
    if (!encoding.empty() && encoding != "identity") {
        return {.rejection =
                    bad_request(415, "Content-Encoding: " + encoding, "a body that is not compressed")};
    }
    if (parser.chunked()) {
        return {.rejection = bad_request(411, "a body in chunks", "a Content-Length")};
    }
    const std::uint64_t bytes = parser.content_length().value_or(0);
    if (bytes > limit) {
        return {.rejection = too_large(bytes, limit)};
    }
    const std::string given = text(kserve::json_length_header);
    const auto json_bytes = given.empty() ? bytes : parse_value<std::uint64_t>(given);
    if (!json_bytes || *json_bytes > bytes) {
        return {.rejection = bad_request(400,
                                         std::string(kserve::json_length_header) + ": " + given +
                                             " in a body of " + std::to_string(bytes) + " bytes",
                                         "the length of the JSON, at most that of the body")};
    }
    if (*json_bytes > kserve::max_json_bytes) {
        return {.rejection = too_large(*json_bytes, kserve::max_json_bytes)};
    }
    return {bytes, static_cast<std::size_t>(*json_bytes)};
}

/// A connection: requests and responses in turn, on a strand of its own.
template <class Protocol>
class Session : public std::enable_shared_from_this<Session<Protocol>> {
public:
    using Executor = asio::any_io_executor;
    using Socket = asio::basic_stream_socket<Protocol, Executor>;

    Session(Socket socket, std::shared_ptr<Shared> shared)
        : m_stream(std::move(socket)), m_shared(std::move(shared)) {}
    ~Session() {
        const std::lock_guard lock(m_shared->mutex);
        --m_shared->connections;
        m_shared->ended.notify_all();
    }

    void begin() {
        asio::co_spawn(
            m_stream.get_executor(), [self = this->shared_from_this()] { return self->run(); },
            asio::detached);
    }

    /// Reply with an error and end: there are too many connections.
    void begin_rejected() {
        asio::co_spawn(
            m_stream.get_executor(), [self = this->shared_from_this()] { return self->run_rejected(); },
            asio::detached);
    }

    /// Close a connection between two requests; all others end after their response.
    void close_if_idle() {
        asio::post(m_stream.get_executor(), [self = this->shared_from_this()] {
            if (self->m_is_idle) {
                self->m_stream.close();
            }
        });
    }
    void close() {
        asio::post(m_stream.get_executor(), [self = this->shared_from_this()] { self->m_stream.close(); });
    }

private:
    using Parser = http::request_parser<http::empty_body>;

    asio::awaitable<void> run() {
        try {
            while (!m_shared->is_stopping && co_await serve_one()) {
            }
        } catch (const boost::system::system_error& end) {
            log::debug("server", [&] { return "connection ended: " + end.code().message(); });
        } catch (...) {
            log::warn("server", current_error().text().what); // no memory
        }
        m_stream.close();
    }

    asio::awaitable<void> run_rejected() {
        try {
            const HttpReply reply = overloaded(
                std::to_string(m_shared->limits.max_connections) + " connections", "fewer connections");
            co_await write(reply, false);
            co_await end_gently();
        } catch (const boost::system::system_error&) {
        }
        m_stream.close();
    }

    /// @return whether the connection goes on
    asio::awaitable<bool> serve_one() {
        Parser parser;
        parser.header_limit(max_header_bytes);
        parser.body_limit(std::numeric_limits<std::uint64_t>::max()); // length_of() has ours
        m_is_idle = true;
        m_stream.expires_after(duration_of(m_shared->limits.idle_seconds));
        error_code failure;
        co_await http::async_read_header(m_stream, m_buffer, parser,
                                         asio::redirect_error(asio::use_awaitable, failure));
        m_is_idle = false;
        if (failure) {
            co_return co_await reject_header(failure);
        }
        BodyLength length = length_of(parser, m_shared->limits.max_bytes);
        std::shared_ptr<kserve::BodyMemory> memory;
        if (!length.rejection) {
            memory = BodyBudget::take(m_shared->budget, length.bytes, length.json_bytes);
            if (!memory) {
                length.rejection =
                    overloaded("no memory for a request of " + std::to_string(length.bytes) + " bytes",
                               "fewer large requests at once");
            }
        }
        if (length.rejection) {
            co_await write(*length.rejection, false);
            co_await end_gently();
            co_return false;
        }
        if (beast::iequals(parser.get()[http::field::expect], "100-continue")) {
            http::response<http::empty_body> go_on(http::status::continue_, 11);
            co_await http::async_write(m_stream, go_on, asio::use_awaitable);
        }
        const auto& limits = m_shared->limits;
        co_await kserve::read_body(
            m_stream, m_buffer, *memory,
            {duration_of(limits.idle_seconds), Clock::now() + duration_of(limits.request_seconds)});
        const bool goes_on = parser.get().keep_alive() && !m_shared->is_stopping;
        const HttpReply reply = co_await respond(parser, std::move(memory));
        co_await write(reply, goes_on);
        co_return goes_on;
    }

    asio::awaitable<bool> reject_header(error_code failure) {
        const bool is_gone = failure == http::error::end_of_stream ||
                             failure == http::error::partial_message || failure == beast::error::timeout ||
                             failure.category() != make_error_code(http::error::end_of_stream).category();
        if (!is_gone) {
            const bool is_long =
                failure == http::error::header_limit || failure == http::error::buffer_overflow;
            const HttpReply reply =
                bad_request(is_long ? 431 : 400, failure.message(), "a request of HTTP/1.1");
            co_await write(reply, false);
            co_await end_gently();
        }
        co_return false;
    }

    asio::awaitable<HttpReply> respond(const Parser& parser, std::shared_ptr<kserve::BodyMemory> memory) {
        const auto& request = parser.get();
        const Target target =
            parse_target(std::string_view(request.target().data(), request.target().size()));
        if (target.kind == Target::Kind::unknown) {
            co_return unknown_path(std::string_view(request.target().data(), request.target().size()));
        }
        if (request.method() != (target.is_post() ? http::verb::post : http::verb::get)) {
            co_return bad_request(405, std::string(request.method_string()),
                                  target.is_post() ? "POST" : "GET");
        }
        if (target.kind != Target::Kind::infer) {
            co_return reply_to(target, m_shared->services);
        }
        co_return co_await infer(target, std::move(memory));
    }

    asio::awaitable<HttpReply> infer(const Target& target, std::shared_ptr<kserve::BodyMemory> memory) {
        std::optional<HttpReply> rejection;
        kserve::InferRequest request, form; // the form of the response needs all but the tensors
        try {
            request = kserve::parse_infer_request(kserve::BodyMemory::view(memory), target.model);
            request.version = target.version;
            form = {.model = request.model, .parameters = request.parameters, .outputs = request.outputs};
        } catch (...) {
            rejection = error_reply(failure_of(current_error()));
        }
        memory.reset();
        if (rejection) {
            co_return std::move(*rejection);
        }
        auto result = co_await result_of(std::move(request));
        if (const auto* failure = std::get_if<kserve::Failure>(&result)) {
            co_return error_reply(*failure);
        }
        HttpReply reply;
        try {
            reply.body = kserve::encode_response(std::move(std::get<kserve::InferResponse>(result)), form);
        } catch (...) {
            reply = error_reply(failure_of(current_error()));
        }
        reply.type = reply.body.binary.empty() ? reply.type : "application/octet-stream";
        co_return reply;
    }

    /// Wait for the result of a request.
    asio::awaitable<kserve::Result<kserve::InferResponse>> result_of(kserve::InferRequest request) {
        struct Waiting {
            explicit Waiting(const Executor& executor)
                : wake(executor, asio::steady_timer::time_point::max()) {}
            asio::steady_timer wake;
            std::optional<kserve::Result<kserve::InferResponse>> result{};
        };
        const Executor executor = m_stream.get_executor();
        const auto waiting = std::make_shared<Waiting>(executor);
        m_stream.expires_never(); // the models have their own limit
        m_shared->services.handler.infer(
            std::move(request), "http", 0, [waiting, executor](kserve::Result<kserve::InferResponse> result) {
                const auto kept = std::make_shared<kserve::Result<kserve::InferResponse>>(std::move(result));
                asio::post(executor, [waiting, kept] {
                    waiting->result = std::move(*kept);
                    waiting->wake.cancel();
                });
            });
        while (!waiting->result) {
            error_code woken;
            co_await waiting->wake.async_wait(asio::redirect_error(asio::use_awaitable, woken));
        }
        co_return std::move(*waiting->result);
    }

    asio::awaitable<void> write(const HttpReply& reply, bool keep_alive) {
        http::response<http::empty_body> response(static_cast<http::status>(reply.status), 11);
        response.set(http::field::server, "spng");
        response.set(http::field::content_type, reply.type);
        response.keep_alive(keep_alive);
        response.content_length(reply.body.bytes());
        if (!reply.body.binary.empty()) {
            response.set(kserve::json_length_header, std::to_string(reply.body.json.size()));
        }
        if (reply.status == 503) {
            response.set(http::field::retry_after, "1");
        }
        const auto& limits = m_shared->limits;
        co_await kserve::write_message(
            m_stream, response, reply.body,
            {duration_of(limits.idle_seconds), Clock::now() + duration_of(limits.request_seconds)});
    }

    /// Discard what the client still sends: a connection that is closed before would lose the reply.
    asio::awaitable<void> end_gently() {
        error_code ignored;
        m_stream.socket().shutdown(Socket::shutdown_send, ignored);
        m_stream.expires_after(linger);
        std::array<char, 1 << 14>
            rest; // NOLINT(cppcoreguidelines-pro-type-member-init): written before it is read
        while (!ignored) {
            co_await m_stream.async_read_some(asio::buffer(rest),
                                              asio::redirect_error(asio::use_awaitable, ignored));
        }
    }

    beast::basic_stream<Protocol> m_stream;
    std::shared_ptr<Shared> m_shared;
    beast::flat_buffer m_buffer{max_header_bytes + max_parameter_bytes};
    bool m_is_idle = false; ///< used on the strand alone
};

template <class Protocol>
class HttpListener final : public kserve::Listener {
public:
    using Endpoint = typename Protocol::endpoint;

    HttpListener(IoThreads& threads, const kserve::Address& address, const Endpoint& endpoint,
                 const HttpServices& services, const ServeLimits& limits)
        : m_strand(asio::make_strand(threads.context())), m_acceptor(m_strand), m_pause(m_strand),
          m_address(address),
          m_shared(new Shared{services, limits, std::make_shared<BodyBudget>(2 * limits.max_bytes)}) {
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
        const auto all_ended = [this] { return m_shared->connections == 0; };
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
            begin(std::move(socket));
            accept();
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
        const int before = m_shared->connections++;
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
    std::shared_ptr<Shared> m_shared;
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
    const kserve::Address address{.path = path};
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
