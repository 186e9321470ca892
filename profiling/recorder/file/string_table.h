// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "profiling/recorder/file/values.h"

#include <cstddef>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace spng::recorder {

/// Table of distinct strings, indexed from 1. An index stays valid until the process ends, because programs
/// keep handles of registered strings over several sessions. Thread-safe.
class StringTable {
public:
    /// Return the index of a string; add the string if it is new. Beyond `limit` strings, all new strings
    /// share one placeholder and overflow() counts them.
    StringId intern(std::string_view text);

    /// Return the strings from index `first` on, in order. The pointers stay valid.
    std::vector<const std::string*> from(std::uint32_t first) const;
    /// Return a string. The reference stays valid.
    const std::string& at(StringId id) const;
    /// Return the count of strings beyond the limit.
    std::size_t overflow() const;

    /// Lock the table during a fork, so that the child gets a consistent copy.
    void lock() { m_mutex.lock(); }
    void unlock() { m_mutex.unlock(); }

    /// Limit of distinct strings. It bounds the memory of programs that put a counter into their names.
    static constexpr std::size_t limit = 1'000'000;

private:
    mutable std::mutex m_mutex;
    std::deque<std::string> m_strings; ///< a deque, because its elements do not move
    std::unordered_map<std::string_view, std::uint32_t> m_indices;
    std::size_t m_overflow = 0;
};

/// Remove the counters that LibTorch's profiler appends to the name of an operator: ", seq = N", ", op_id =
/// N" and ", input_op_ids = [...]". They make each instance of a name unique.
/// @param scratch  storage of the result if something is removed
/// @return view of `name` or `scratch`
std::string_view without_counters(std::string_view name, std::string& scratch);

} // namespace spng::recorder
