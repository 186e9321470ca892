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

/// Each distinct string once, numbered from 1. Numbers stay for the life of the process, since programs keep
/// handles of registered strings over several sessions. Thread-safe.
class StringTable {
public:
    /// The number of a string, which is added if it is new. When there are `limit` strings already, new ones
    /// all become one that says so; overflow() counts them.
    StringId intern(std::string_view text);

    /// Strings numbered from `first` on, in order. The references stay valid.
    std::vector<const std::string*> from(std::uint32_t first) const;
    const std::string& at(StringId id) const;
    std::size_t overflow() const;

    /// While a fork happens, so that the child finds the table in order.
    void lock() { m_mutex.lock(); }
    void unlock() { m_mutex.unlock(); }

    /// A program that puts a counter into its names would otherwise fill the memory.
    static constexpr std::size_t limit = 1'000'000;

private:
    mutable std::mutex m_mutex;
    std::deque<std::string> m_strings; ///< never moves its elements
    std::unordered_map<std::string_view, std::uint32_t> m_numbers;
    std::size_t m_overflow = 0;
};

/// The name of a range without what makes each of its instances unique: LibTorch's profiler appends ", seq =
/// N", ", op_id = N" and ", input_op_ids = [...]" to the name of the operator.
/// @param scratch  holds the result where something was cut out
std::string_view without_counters(std::string_view name, std::string& scratch);

} // namespace spng::recorder
