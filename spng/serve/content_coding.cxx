// SPDX-License-Identifier: Apache-2.0
#include "spng/serve/content_coding.h"

#include "spng/core/error.h"
#include "spng/core/parse_value.h"

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/rfc7230.hpp>

#define ZLIB_CONST // input is const
#include <zlib.h>

#include <algorithm>
#include <memory>
#include <new>
#include <vector>

namespace spng {
namespace {

namespace beast = boost::beast;

constexpr std::size_t piece_bytes = std::size_t{1} << 18;
constexpr std::size_t max_input = std::size_t{1} << 30; // zlib counts in 32 bits

int window_bits(Coding coding) {
    return (coding == Coding::gzip ? 16 : 0) + MAX_WBITS; // zlib: this format alone, with its checksum
}

Bytef* bytes_of(char* text) {
    return reinterpret_cast<Bytef*>(text);
}
const Bytef* bytes_of(const char* text) {
    return reinterpret_cast<const Bytef*>(text);
}

[[noreturn]] void reject(Coding coding, const char* seen) {
    throw Error(ErrorKind::Input,
                {.what = "the compressed body of a request cannot be unpacked",
                 .where = "request",
                 .seen = seen,
                 .expected = std::string("the bytes that Content-Encoding names, ") + to_string(coding),
                 .hint = "send it again, or without compression"});
}

/// Unpacks bytes piece by piece.
class Unpacker {
public:
    Unpacker(Coding coding, std::string_view packed) : m_coding(coding), m_packed(packed) {
        if (inflateInit2(&m_zlib, window_bits(coding)) != Z_OK) {
            throw std::bad_alloc();
        }
    }
    ~Unpacker() { inflateEnd(&m_zlib); }
    Unpacker(const Unpacker&) = delete;
    Unpacker& operator=(const Unpacker&) = delete;

    /// Write the next bytes.
    /// @return how many; 0 at the end
    std::size_t next(char* to, std::size_t size) {
        const std::size_t room = std::min(size, piece_bytes);
        m_zlib.next_out = bytes_of(to);
        m_zlib.avail_out = static_cast<uInt>(room);
        while (m_zlib.avail_out == room && !is_at_end()) {
            const int status = inflate(&m_zlib, Z_NO_FLUSH);
            if (status == Z_STREAM_END) {
                m_is_whole = true;
            } else if (status != Z_OK) {
                reject(m_coding, m_zlib.msg != nullptr ? m_zlib.msg : "damaged bytes");
            }
        }
        return room - m_zlib.avail_out;
    }

private:
    bool is_at_end() {
        if (m_zlib.avail_in == 0) {
            m_zlib.next_in = bytes_of(m_packed.data());
            m_zlib.avail_in = static_cast<uInt>(std::min(m_packed.size(), max_input));
            m_packed.remove_prefix(m_zlib.avail_in);
        }
        if (m_zlib.avail_in == 0 && !m_is_whole) {
            reject(m_coding, "a body that ends too early");
        }
        if (m_zlib.avail_in > 0 && m_is_whole) { // gzip may have several members
            if (m_coding != Coding::gzip) {
                reject(m_coding, "bytes behind the end");
            }
            m_is_whole = false;
            inflateReset(&m_zlib);
        }
        return m_is_whole;
    }

    const Coding m_coding;
    std::string_view m_packed; ///< what zlib has not seen
    z_stream m_zlib{};
    bool m_is_whole = false;
};

} // namespace

const char* to_string(Coding coding) {
    switch (coding) {
    case Coding::none:
        break;
    case Coding::gzip:
        return "gzip";
    case Coding::deflate:
        return "deflate";
    }
    return "";
}

std::optional<Coding> coding_named(std::string_view content_encoding) {
    const beast::string_view name(content_encoding.data(), content_encoding.size());
    if (name.empty() || beast::iequals(name, "identity")) {
        return Coding::none;
    }
    if (beast::iequals(name, "gzip") || beast::iequals(name, "x-gzip")) {
        return Coding::gzip;
    }
    return beast::iequals(name, "deflate") ? std::optional(Coding::deflate) : std::nullopt;
}

Coding accepted_coding(std::string_view accept_encoding) {
    Coding chosen = Coding::none;
    const beast::http::ext_list codings({accept_encoding.data(), accept_encoding.size()});
    for (const auto& [name, parameters] : codings) {
        const bool is_rejected = std::any_of(parameters.begin(), parameters.end(), [](const auto& each) {
            return beast::iequals(each.first, "q") &&
                   parse_value<double>({each.second.data(), each.second.size()}) == 0;
        });
        const auto coding = coding_named({name.data(), name.size()});
        if (!is_rejected && coding && *coding != Coding::none && chosen != Coding::gzip) {
            chosen = *coding;
        }
    }
    return chosen;
}

std::optional<std::size_t> unpacked_size(Coding coding, std::string_view packed, std::size_t limit) {
    Unpacker unpacker(coding, packed);
    std::vector<char> piece(piece_bytes);
    std::size_t size = 0;
    while (const std::size_t more = unpacker.next(piece.data(), piece.size())) {
        size += more;
        if (size > limit) {
            return std::nullopt;
        }
    }
    return size;
}

void unpack(Coding coding, std::string_view packed, char* to, std::size_t size) {
    Unpacker unpacker(coding, packed);
    while (size > 0) {
        const std::size_t more = unpacker.next(to, size);
        to += more;
        size -= more;
    }
}

std::string packed(Coding coding, const kserve::Body& body) {
    constexpr int fastest = 1, memory_level = 8;
    z_stream zlib{};
    if (deflateInit2(&zlib, fastest, Z_DEFLATED, window_bits(coding), memory_level, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
        throw std::bad_alloc();
    }
    const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&zlib, &deflateEnd);
    std::string result;
    std::vector<char> piece(piece_bytes);
    const auto add = [&](std::string_view part, int flush) {
        do {
            zlib.next_in = bytes_of(part.data());
            zlib.avail_in = static_cast<uInt>(std::min(part.size(), max_input));
            part.remove_prefix(zlib.avail_in);
            do {
                zlib.next_out = bytes_of(piece.data());
                zlib.avail_out = static_cast<uInt>(piece.size());
                deflate(&zlib, part.empty() ? flush : Z_NO_FLUSH);
                result.append(piece.data(), piece.size() - zlib.avail_out);
            } while (zlib.avail_out == 0);
        } while (!part.empty());
    };
    add(body.json, Z_NO_FLUSH);
    for (const kserve::Tensor& tensor : body.binary) {
        add({static_cast<const char*>(tensor.data), tensor.bytes}, Z_NO_FLUSH);
    }
    add({}, Z_FINISH);
    return result;
}

} // namespace spng
