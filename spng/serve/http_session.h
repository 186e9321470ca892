// SPDX-License-Identifier: Apache-2.0
#pragma once
// One HTTP connection of the server.

#include "spng/core/log/log.h"
#include "spng/device/memory/out_of_memory.h"
#include "spng/kserve/http_stream.h"
#include "spng/serve/http_checks.h"
#include "spng/serve/http_reply.h"
#include "spng/serve/http_server.h"
#include "spng/serve/serve_limits.h"
#include "spng/serve/served_model.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

namespace spng::http_server {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;
using kserve::Clock;

inline constexpr std::uint32_t max_header_bytes = 16384;
// Time without a byte of the client, after an error, until the connection is closed.
inline constexpr std::chrono::seconds linger{2};
inline constexpr double forever = 1e8;               // seconds
inline constexpr std::size_t smallest_packed = 1024; ///< bytes of a body that is worth a compression

inline Clock::duration duration_of(double seconds) {
    return std::chrono::duration_cast<Clock::duration>(
        std::chrono::duration<double>(seconds > 0 ? seconds : forever));
}

/// State of an address that its connections share.
struct Connections {
    Connections(const HttpServices& services, const ServeLimits& limits)
        : services(services), limits(limits) {}

    HttpServices services;
    ServeLimits limits;
    std::atomic<int> count{0};
    std::atomic<bool> is_stopping{false};
    std::mutex mutex;
    std::condition_variable ended; ///< a connection
};

/// A connection: requests and responses in turn, on a strand of its own.
template <class Protocol>
class Session : public std::enable_shared_from_this<Session<Protocol>> {
public:
    using Executor = asio::any_io_executor;
    using Socket = asio::basic_stream_socket<Protocol, Executor>;

    Session(Socket socket, std::shared_ptr<Connections> shared)
        : m_stream(std::move(socket)), m_shared(std::move(shared)) {
        ++m_shared->count;
    }
    ~Session() {
        const std::lock_guard lock(m_shared->mutex);
        --m_shared->count;
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
        note(parser);
        BodyLength length = length_of(parser, m_shared->limits.max_bytes);
        RequestMemory memory = memory_of(length);
        if (length.rejection) {
            co_await write(*length.rejection, false);
            co_await end_gently();
            co_return false;
        }
        if (beast::iequals(parser.get()[http::field::expect], "100-continue") && !m_form.is_old) {
            http::response<http::empty_body> go_on(http::status::continue_, 11);
            co_await http::async_write(m_stream, go_on, asio::use_awaitable);
        }
        const auto& limits = m_shared->limits;
        co_await kserve::read_body(
            m_stream, m_buffer, *memory.body,
            {duration_of(limits.idle_seconds), Clock::now() + duration_of(limits.request_seconds)});
        const bool goes_on = parser.get().keep_alive() && !m_shared->is_stopping;
        std::optional<HttpReply> reply;
        if (length.coding != Coding::none) {
            reply = unpack_body(parser, length.coding, memory);
        }
        if (!reply) {
            reply = co_await respond(parser, std::move(memory));
        }
        co_await write(*reply, goes_on);
        co_return goes_on;
    }

    /// Remember how the reply to a request is written.
    void note(const Parser& parser) {
        const auto accepted = parser.get()[http::field::accept_encoding];
        m_form = {.is_head = parser.get().method() == http::verb::head,
                  .is_old = parser.get().version() < 11,
                  .coding = accepted_coding({accepted.data(), accepted.size()})};
    }

    struct RequestMemory {
        std::shared_ptr<kserve::BodyMemory> body{};
        std::shared_ptr<const void> reservation{};
    };

    /// Return the memory of a request. Without any, or for a rejected request, it has no body.
    /// @param length  gets the rejection for lack of memory
    RequestMemory memory_of(BodyLength& length) const {
        RequestMemory memory;
        if (length.rejection) {
            return memory;
        }
        try {
            memory.reservation =
                m_shared->services.memory.reserve(length.bytes, 2 * m_shared->limits.max_bytes);
            if (memory.reservation) {
                memory.body = std::make_shared<kserve::BodyMemory>(length.bytes, length.json_bytes);
            }
        } catch (const std::bad_alloc&) { // as if the budget were used up
        }
        if (!memory.body) {
            length.rejection =
                overloaded("no memory for a request of " + std::to_string(length.bytes) + " bytes",
                           "fewer large requests at once");
        }
        return memory;
    }

    /// Replace a compressed body by its content, whose size is known before it takes memory.
    std::optional<HttpReply> unpack_body(const Parser& parser, Coding coding, RequestMemory& memory) const {
        try {
            const std::size_t max_bytes = m_shared->limits.max_bytes;
            const std::string_view packed(memory.body->data(), memory.body->bytes());
            BodyLength length =
                length_of_unpacked(parser, unpacked_size(coding, packed, max_bytes), max_bytes);
            RequestMemory content = memory_of(length);
            if (!length.rejection) {
                unpack(coding, packed, content.body->data(), length.bytes);
                memory = std::move(content);
            }
            return length.rejection;
        } catch (...) {
            return error_reply(failure_of(current_error()));
        }
    }

    asio::awaitable<bool> reject_header(error_code failure) {
        const bool is_gone = failure == http::error::end_of_stream ||
                             failure == http::error::partial_message || failure == beast::error::timeout ||
                             failure.category() != make_error_code(http::error::end_of_stream).category();
        if (!is_gone) {
            const bool is_long =
                failure == http::error::header_limit || failure == http::error::buffer_overflow;
            const unsigned status = is_long ? 431 : failure == http::error::bad_version ? 505 : 400;
            m_form = {};
            const HttpReply reply = bad_request(status, failure.message(), "a request of HTTP/1.1");
            co_await write(reply, false);
            co_await end_gently();
        }
        co_return false;
    }

    asio::awaitable<HttpReply> respond(const Parser& parser, RequestMemory memory) {
        const auto& request = parser.get();
        const Target target =
            parse_target(std::string_view(request.target().data(), request.target().size()));
        const bool is_options = request.method() == http::verb::options;
        if (target.kind == Target::Kind::unknown || (target.kind == Target::Kind::root && !is_options)) {
            co_return unknown_path(std::string_view(request.target().data(), request.target().size()));
        }
        if (is_options) {
            co_return reply_to_options(target, m_shared->services);
        }
        const bool is_get = request.method() == http::verb::get || request.method() == http::verb::head;
        if (target.is_post() ? request.method() != http::verb::post : !is_get) {
            HttpReply reply = bad_request(405, std::string(request.method_string()), target.allow());
            reply.allow = target.allow();
            co_return reply;
        }
        if (target.kind != Target::Kind::infer) {
            co_return reply_to(target, kserve::BodyMemory::view(memory.body).json, m_shared->services);
        }
        co_return co_await infer(target, std::move(memory));
    }

    asio::awaitable<HttpReply> infer(const Target& target, RequestMemory memory) {
        std::optional<HttpReply> rejection;
        kserve::InferRequest request, form; // the form of the response needs all but the tensors
        try {
            request = kserve::parse_infer_request(kserve::BodyMemory::view(memory.body), target.model);
            request.version = target.version;
            request.owner = std::move(memory.reservation); // lists of JSON outlive the body
            form = {.model = request.model, .parameters = request.parameters, .outputs = request.outputs};
        } catch (...) {
            rejection = error_reply(failure_of(current_error()));
        }
        memory = {};
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
        if (keep_alive && m_form.is_old) {
            response.set(http::field::connection, "keep-alive");
        }
        if (reply.allow != nullptr) {
            response.set(http::field::allow, reply.allow);
        }
        if (!reply.body.binary.empty()) {
            response.set(kserve::json_length_header, std::to_string(reply.body.json.size()));
        }
        response.set(http::field::vary, "Accept-Encoding");
        kserve::Body compressed;
        if (m_form.coding != Coding::none && reply.body.bytes() >= smallest_packed) {
            response.set(http::field::content_encoding, to_string(m_form.coding));
            compressed.json = packed(m_form.coding, reply.body);
        }
        const kserve::Body& body = compressed.json.empty() ? reply.body : compressed;
        response.content_length(body.bytes());
        if (reply.status == 503) {
            response.set(http::field::retry_after, "1");
        }
        const auto& limits = m_shared->limits;
        const kserve::TransferLimits transfer{duration_of(limits.idle_seconds),
                                              Clock::now() + duration_of(limits.request_seconds)};
        co_await kserve::write_header(m_stream, response, transfer);
        if (!m_form.is_head) {
            co_await kserve::write_body(m_stream, body, transfer);
        }
    }

    /// Discard bytes that the client still sends: a connection that is closed earlier would lose the reply.
    asio::awaitable<void> end_gently() {
        error_code ignored;
        m_stream.socket().shutdown(Socket::shutdown_send, ignored);
        const kserve::TransferLimits limits{linger,
                                            Clock::now() + duration_of(m_shared->limits.request_seconds)};
        m_stream.expires_after(linger);
        // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): written before it is read
        std::array<char, 1 << 14> rest;
        while (!ignored) {
            if (!m_shared->is_stopping) {
                m_stream.expires_at(limits.next());
            }
            co_await m_stream.async_read_some(asio::buffer(rest),
                                              asio::redirect_error(asio::use_awaitable, ignored));
        }
    }

    beast::basic_stream<Protocol> m_stream;
    std::shared_ptr<Connections> m_shared;
    beast::flat_buffer m_buffer{max_header_bytes + max_ignored_bytes};
    bool m_is_idle = false; ///< used on the strand alone

    /// How the reply to the present request is written.
    struct ReplyForm {
        bool is_head = false;
        bool is_old = false; ///< the client speaks HTTP/1.0
        Coding coding = Coding::none;
    };
    ReplyForm m_form{};
};

} // namespace spng::http_server
