// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cache of what a node derives from properties that most events of a job share, such as their channels.

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace spng {

/// Keeps the values of the first `max_kept` keys for the life of the object. Nothing is ever replaced: queued work of
/// a device may still read it. Values of further keys live as long as their users. Thread-safe.
template <class Key, class Value>
class KeptValues {
public:
    static constexpr std::size_t max_kept = 8;

    /// Return the value of a key.
    /// @param make  returns a new value; called with true if it will be kept, and other events, on other streams,
    ///              may get it. If it throws, nothing is kept
    template <class Make>
    std::shared_ptr<const Value> get(const Key& key, Make make) {
        std::unique_lock lock(m_mutex);
        for (const auto& [known, value] : m_kept) {
            if (known == key) {
                return value;
            }
        }
        if (m_kept.size() >= max_kept) {
            lock.unlock();
            return std::make_shared<const Value>(make(false));
        }
        auto value = std::make_shared<const Value>(make(true));
        m_kept.emplace_back(key, value);
        return value;
    }

private:
    std::mutex m_mutex;
    std::vector<std::pair<Key, std::shared_ptr<const Value>>> m_kept;
};

} // namespace spng
