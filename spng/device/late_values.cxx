// SPDX-License-Identifier: Apache-2.0
#include "spng/device/late_values.h"

#include "spng/device/host_copy.h"

#include <utility>

namespace spng {

void LateValues::add(const std::string& node, at::Tensor values, Reader read) {
    const std::lock_guard lock(m_mutex);
    m_entries.insert_or_assign(node, Entry{std::move(values), std::move(read)});
}

std::map<std::string, LateValues::Entry> LateValues::entries() const {
    const std::lock_guard lock(m_mutex);
    return m_entries;
}

void LateValues::begin_copies() {
    const std::lock_guard lock(m_mutex);
    for (auto& [node, entry] : m_entries) {
        entry.values = begin_copy_to_host(entry.values);
    }
}

Notes LateValues::notes() {
    const std::lock_guard lock(m_mutex);
    if (!m_notes) {
        m_notes.emplace();
        for (const auto& [node, entry] : m_entries) {
            merge_notes(*m_notes, entry.read(entry.values));
        }
    }
    return *m_notes;
}

} // namespace spng
