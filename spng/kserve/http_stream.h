// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bodies on a stream of Beast: read into memory of our own, so that its size is checked before it is
// allocated and binary tensors are aligned; written without copying tensors.

#include "spng/kserve/json_codec.h"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/buffer_traits.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/write.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <vector>

namespace spng::kserve {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using TimePoint = asio::steady_timer::time_point;
using Clock = asio::steady_timer::clock_type;

/// Bytes whose binary part, behind the JSON, is aligned for vector instructions.
class BodyMemory {
public:
    BodyMemory(std::size_t bytes, std::size_t json_bytes)
        : m_offset((alignment - json_bytes % alignment) % alignment), m_bytes(bytes),
          m_json_bytes(json_bytes),
          m_memory(static_cast<char*>(::operator new(m_offset + bytes + 1, std::align_val_t{alignment}))) {}

    char* data() { return m_memory.get() + m_offset; }
    std::size_t bytes() const { return m_bytes; }

    /// View the parts of a body. The view keeps the memory alive.
    static BodyView view(const std::shared_ptr<BodyMemory>& memory) {
        const std::string_view all(memory->data(), memory->m_bytes);
        return {all.substr(0, memory->m_json_bytes), all.substr(memory->m_json_bytes), memory};
    }

private:
    static constexpr std::size_t alignment = 64;
    struct Free {
        void operator()(char* memory) const { ::operator delete(memory, std::align_val_t{alignment}); }
    };
    std::size_t m_offset, m_bytes, m_json_bytes;
    std::unique_ptr<char, Free> m_memory;
};

/// Limits of a transfer: of each piece, and of the whole.
struct TransferLimits {
    Clock::duration piece;
    TimePoint end;

    TimePoint next() const { return std::min(Clock::now() + piece, end); }
};

/// Read a body of known length: first what the header's reader has buffered, then from the stream.
template <class Stream>
asio::awaitable<void> read_body(Stream& stream, beast::flat_buffer& buffer, BodyMemory& body,
                                TransferLimits limits) {
    constexpr std::size_t piece_bytes = std::size_t{1} << 20;
    std::size_t done = asio::buffer_copy(asio::buffer(body.data(), body.bytes()), buffer.data());
    buffer.consume(done);
    while (done < body.bytes()) {
        stream.expires_at(limits.next());
        const auto piece = asio::buffer(body.data() + done, std::min(piece_bytes, body.bytes() - done));
        done += co_await stream.async_read_some(piece, asio::use_awaitable);
    }
}

/// Write the header of a message.
/// @param message  with the length of the body that follows
template <class Stream, bool is_request>
asio::awaitable<void> write_header(Stream& stream, http::message<is_request, http::empty_body>& message,
                                   TransferLimits limits) {
    http::serializer<is_request, http::empty_body> serializer(message);
    stream.expires_at(limits.next());
    co_await http::async_write_header(stream, serializer, asio::use_awaitable);
}

template <class Stream>
asio::awaitable<void> write_body(Stream& stream, const Body& body, TransferLimits limits) {
    constexpr std::size_t piece_bytes = std::size_t{1} << 20;
    std::vector<asio::const_buffer> parts{asio::buffer(body.json)};
    for (const Tensor& tensor : body.binary) {
        parts.push_back(asio::buffer(tensor.data, tensor.bytes));
    }
    for (asio::const_buffer part : parts) {
        while (part.size() > 0) {
            stream.expires_at(limits.next());
            const asio::const_buffer piece(part.data(), std::min(piece_bytes, part.size()));
            part += co_await asio::async_write(stream, piece, asio::use_awaitable);
        }
    }
}

} // namespace spng::kserve
