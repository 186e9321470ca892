// SPDX-License-Identifier: Apache-2.0
#pragma once
// Values as bytes for the user's cache, in the representation of this program. One function describes a type in both directions:
//
//     template <class Record> void visit(Record& record, Plane& plane) {
//         record.value(plane.pitch);
//         record.list(plane.wires);
//     }

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace spng {

class RecordWriter {
public:
    template <class T>
    void value(const T& value) {
        bytes(&value, sizeof value);
        static_assert(std::is_trivially_copyable_v<T>);
    }
    /// A list of plain values.
    template <class T>
    void list(const std::vector<T>& list) {
        static_assert(std::is_trivially_copyable_v<T>);
        value(static_cast<std::uint64_t>(list.size()));
        bytes(list.data(), list.size() * sizeof(T));
    }
    /// A list of values that `each` describes.
    template <class T, class Each>
    void list(std::vector<T>& list, const Each& each) {
        value(static_cast<std::uint64_t>(list.size()));
        for (T& element : list) {
            each(*this, element);
        }
    }
    void bytes(const void* begin, std::size_t count) {
        m_text.append(static_cast<const char*>(begin), count);
    }

    const std::string& text() const { return m_text; }

private:
    std::string m_text;
};

/// The same in the other direction.
/// @throws std::out_of_range, from all functions, if the text is too short
class RecordReader {
public:
    explicit RecordReader(std::string_view text) : m_text(text) {}

    template <class T>
    void value(T& value) {
        static_assert(std::is_trivially_copyable_v<T>);
        bytes(&value, sizeof value);
    }
    template <class T>
    void list(std::vector<T>& list) {
        static_assert(std::is_trivially_copyable_v<T>);
        list.resize(count(sizeof(T)));
        bytes(list.data(), list.size() * sizeof(T));
    }
    template <class T, class Each>
    void list(std::vector<T>& list, const Each& each) {
        list.resize(count(1));
        for (T& element : list) {
            each(*this, element);
        }
    }
    void bytes(void* begin, std::size_t count) {
        if (count > m_text.size()) {
            throw std::out_of_range("a record is too short");
        }
        if (count > 0) {
            std::memcpy(begin, m_text.data(), count);
        }
        m_text.remove_prefix(count);
    }

    bool is_at_end() const { return m_text.empty(); }

private:
    /// Read a count of elements that take at least `element_bytes` each.
    std::size_t count(std::size_t element_bytes) {
        std::uint64_t count = 0;
        value(count);
        if (count > m_text.size() / element_bytes) {
            throw std::out_of_range("a record is too short");
        }
        return count;
    }

    std::string_view m_text;
};

} // namespace spng
