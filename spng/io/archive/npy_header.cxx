// SPDX-License-Identifier: Apache-2.0
#include "spng/io/archive/npy_header.h"

#include "spng/core/error.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <optional>

namespace spng {

namespace {

constexpr std::string_view magic{"\x93NUMPY", 6};
constexpr std::size_t version_bytes = 2;
constexpr std::size_t alignment = 64;               // of the first item
constexpr std::size_t longest_dictionary = 1 << 16; // NumPy's own limit is 10000 characters
constexpr std::size_t max_axes = 8;

struct TypeCode {
    std::string_view code; ///< kind and bytes per item
    c10::ScalarType type;
};

constexpr std::array<TypeCode, 12> type_codes{{{"b1", c10::ScalarType::Bool},
                                               {"i1", c10::ScalarType::Char},
                                               {"u1", c10::ScalarType::Byte},
                                               {"i2", c10::ScalarType::Short},
                                               {"u2", c10::ScalarType::UInt16},
                                               {"i4", c10::ScalarType::Int},
                                               {"u4", c10::ScalarType::UInt32},
                                               {"i8", c10::ScalarType::Long},
                                               {"u8", c10::ScalarType::UInt64},
                                               {"f2", c10::ScalarType::Half},
                                               {"f4", c10::ScalarType::Float},
                                               {"f8", c10::ScalarType::Double}}};

[[noreturn]] void reject(const std::string& where, std::string what, std::string seen, std::string expected) {
    throw Error(ErrorKind::Input, {.what = std::move(what),
                                   .where = where,
                                   .seen = std::move(seen),
                                   .expected = std::move(expected),
                                   .hint = "write the array with numpy.save, or copy the file again"});
}

/// Return at most 60 printable characters of a file's content.
std::string excerpt(std::string_view text) {
    std::string out(text.substr(0, 60));
    std::replace_if(out.begin(), out.end(), [](unsigned char c) { return c < 0x20 || c > 0x7e; }, '?');
    return out;
}

/// Parses the literal that NumPy writes: {'descr': '<i2', 'fortran_order': True, 'shape': (2560, 6000), }
class DictionaryParser {
public:
    DictionaryParser(std::string_view text, std::string where) : m_text(text), m_where(std::move(where)) {}

    NpyHeader parse() {
        NpyHeader header;
        bool has_type = false;
        bool has_order = false;
        bool has_shape = false;
        expect('{');
        while (!accept('}')) {
            const std::string_view key = quoted();
            expect(':');
            if (key == "descr" && !has_type) {
                parse_type(header);
                has_type = true;
            } else if (key == "fortran_order" && !has_order) {
                header.fortran_order = boolean();
                has_order = true;
            } else if (key == "shape" && !has_shape) {
                header.shape = tuple();
                has_shape = true;
            } else {
                malformed();
            }
            if (!accept(',')) {
                expect('}');
                break;
            }
        }
        skip_space();
        if (m_at != m_text.size() || !has_type || !has_order || !has_shape) {
            malformed();
        }
        return header;
    }

private:
    [[noreturn]] void malformed() const {
        reject(m_where, "the array's header cannot be read", m_text.empty() ? "no text" : excerpt(m_text),
               "{'descr': ..., 'fortran_order': ..., 'shape': (...), }");
    }

    void skip_space() {
        while (m_at < m_text.size() && (m_text[m_at] == ' ' || m_text[m_at] == '\n')) {
            ++m_at;
        }
    }

    bool accept(char wanted) {
        skip_space();
        const bool found = m_at < m_text.size() && m_text[m_at] == wanted;
        m_at += found ? 1 : 0;
        return found;
    }

    void expect(char wanted) {
        if (!accept(wanted)) {
            malformed();
        }
    }

    std::string_view quoted() {
        const char quote = accept('\'') ? '\'' : '"';
        if (quote == '"') {
            expect('"');
        }
        const std::size_t end = m_text.find(quote, m_at);
        if (end == std::string_view::npos) {
            malformed();
        }
        const std::string_view value = m_text.substr(m_at, end - m_at);
        m_at = end + 1;
        return value;
    }

    bool boolean() {
        skip_space();
        for (const std::string_view word : {"True", "False"}) {
            if (m_text.substr(m_at).starts_with(word)) {
                m_at += word.size();
                return word == "True";
            }
        }
        malformed();
    }

    std::vector<std::int64_t> tuple() {
        std::vector<std::int64_t> values;
        expect('(');
        while (!accept(')')) {
            skip_space();
            std::int64_t value = -1;
            const auto [end, problem] =
                std::from_chars(m_text.data() + m_at, m_text.data() + m_text.size(), value);
            if (problem != std::errc{} || value < 0 || values.size() == max_axes) {
                malformed();
            }
            m_at = static_cast<std::size_t>(end - m_text.data());
            accept('L'); // Python 2 writes this after long integers
            values.push_back(value);
            if (!accept(',')) {
                expect(')');
                break;
            }
        }
        return values;
    }

    void parse_type(NpyHeader& header) {
        skip_space();
        if (m_text.substr(m_at).starts_with('[')) {
            unsupported("a structure");
        }
        const std::string_view descriptor = quoted();
        const std::string_view order = descriptor.substr(0, std::min<std::size_t>(1, descriptor.size()));
        const bool has_order = order == "<" || order == ">" || order == "=" || order == "|";
        const std::string_view code = descriptor.substr(has_order ? 1 : 0);
        const auto* found = std::find_if(type_codes.begin(), type_codes.end(),
                                         [code](const TypeCode& known) { return known.code == code; });
        if (found == type_codes.end()) {
            unsupported(descriptor);
        }
        // Read bool as uint8: a damaged file may have any byte, and a bool of another value is undefined
        // behaviour.
        header.type = found->type == c10::ScalarType::Bool ? c10::ScalarType::Byte : found->type;
        const std::string_view foreign = std::endian::native == std::endian::little ? ">" : "<";
        header.swapped = order == foreign && header.item_bytes() > 1;
    }

    [[noreturn]] void unsupported(std::string_view descriptor) const {
        const bool is_object = descriptor.find('O') != std::string_view::npos;
        reject(m_where,
               is_object ? "the array holds pickled Python objects, which are not read because they can run "
                           "any program"
                         : "the array's type is not supported",
               "dtype '" + excerpt(descriptor) + "'", "bool, an integer type, or float16, float32, float64");
    }

    std::string_view m_text;
    std::string m_where;
    std::size_t m_at = 0;
};

/// Return the bytes of all items; nothing if they exceed the maximum, or if those of an empty array would do so without
/// its empty axes: LibTorch multiplies the axes from the first to the last.
std::optional<std::uint64_t> product(const std::vector<std::int64_t>& shape, std::uint64_t item_bytes) {
    std::uint64_t bytes = item_bytes;
    bool is_empty = false;
    for (const std::int64_t size : shape) {
        is_empty = is_empty || size == 0;
        if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(size == 0 ? 1 : size), &bytes) ||
            bytes > largest_array_bytes) {
            return std::nullopt;
        }
    }
    return is_empty ? 0 : bytes;
}

std::string read_exactly(ByteSource& source, std::size_t bytes) {
    std::string text(bytes, '\0');
    if (source.read(text.data(), bytes) != bytes) {
        reject(source.where(), "the member ends inside the array's header",
               "fewer than " + std::to_string(bytes) + " bytes", "a .npy array");
    }
    return text;
}

} // namespace

std::size_t NpyHeader::item_bytes() const {
    return c10::elementSize(type);
}

std::uint64_t NpyHeader::data_bytes() const {
    return product(shape, item_bytes()).value();
}

NpyHeader read_npy_header(ByteSource& source) {
    std::string start(magic.size() + version_bytes, '\0');
    const std::size_t count = source.read(start.data(), start.size());
    if (count != start.size() || !start.starts_with(magic)) {
        reject(source.where(), "the member is not a .npy array",
               count == 0 ? "an empty member" : "it begins with \"" + excerpt(start.substr(0, count)) + "\"",
               "\\x93NUMPY");
    }
    const int major = static_cast<unsigned char>(start[magic.size()]);
    if (major < 1 || major > 3) {
        reject(source.where(), "unknown format version of the array", std::to_string(major), "1, 2 or 3");
    }
    std::uint32_t length = 0;
    const std::string field = read_exactly(source, major == 1 ? 2 : 4);
    for (std::size_t i = field.size(); i-- > 0;) {
        length = length << 8 | static_cast<unsigned char>(field[i]);
    }
    if (length > longest_dictionary) {
        reject(source.where(), "the array's header is too long", std::to_string(length) + " bytes",
               "at most " + std::to_string(longest_dictionary));
    }
    const std::string dictionary = read_exactly(source, length);
    NpyHeader header = DictionaryParser(dictionary, source.where()).parse();

    const auto bytes = product(header.shape, header.item_bytes());
    if (!bytes) {
        reject(source.where(), "the array's header claims too large a size",
               shape_text(header.shape) + " items of " + std::to_string(header.item_bytes()) + " bytes",
               "at most " + std::to_string(largest_array_bytes) + " bytes");
    }
    const std::uint64_t header_bytes = start.size() + field.size() + length;
    const auto declared = source.declared_bytes();
    if (declared && *declared != header_bytes + *bytes) {
        reject(source.where(), "the array's header does not fit the size of the member",
               shape_text(header.shape) + " items, " + std::to_string(header_bytes + *bytes) +
                   " bytes with the header",
               std::to_string(*declared) + " bytes, the member's size");
    }
    return header;
}

std::string npy_header_bytes(c10::ScalarType type, const std::vector<std::int64_t>& shape) {
    const auto* found = std::find_if(type_codes.begin(), type_codes.end(),
                                     [type](const TypeCode& known) { return known.type == type; });
    if (found == type_codes.end()) {
        throw Error(ErrorKind::Internal, {.what = "NumPy has no such type",
                                          .where = "npy_header_bytes",
                                          .seen = c10::toString(type),
                                          .expected = "bool, an integer type, or float16, float32, float64",
                                          .hint = "convert the tensor before it is written"});
    }
    const char order = found->code[1] == '1' ? '|' : std::endian::native == std::endian::little ? '<' : '>';
    std::string dictionary = std::string("{'descr': '") + order + std::string(found->code) +
                             "', 'fortran_order': False, 'shape': (";
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        dictionary += (axis > 0 ? ", " : "") + std::to_string(shape[axis]);
    }
    dictionary += shape.size() == 1 ? ",), }" : "), }";

    constexpr std::size_t length_field = 2;
    const std::size_t before = magic.size() + version_bytes + length_field;
    const std::size_t unpadded = before + dictionary.size() + 1; // the newline
    dictionary.append((alignment - unpadded % alignment) % alignment, ' ');
    dictionary += '\n';
    std::string out(magic);
    out += {'\x01', '\x00', static_cast<char>(dictionary.size() & 0xFF),
            static_cast<char>(dictionary.size() >> 8 & 0xFF)};
    return out + dictionary;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
    std::string text;
    for (const std::int64_t size : shape) {
        text += (text.empty() ? "" : " x ") + std::to_string(size);
    }
    return text.empty() ? "scalar" : text;
}

} // namespace spng
