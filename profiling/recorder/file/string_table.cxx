// SPDX-License-Identifier: Apache-2.0
#include "profiling/recorder/file/string_table.h"

#include <array>

namespace spng::recorder {
namespace {

constexpr const char* full = "(more distinct names than the recorder keeps)";

} // namespace

StringId StringTable::intern(std::string_view text) {
    const std::lock_guard lock(m_mutex);
    if (const auto found = m_indices.find(text); found != m_indices.end()) {
        return {found->second};
    }
    if (m_strings.size() >= limit) {
        ++m_overflow;
        if (const auto found = m_indices.find(full); found != m_indices.end()) {
            return {found->second};
        }
        text = full;
    }
    m_strings.emplace_back(text);
    const auto index = static_cast<std::uint32_t>(m_strings.size());
    m_indices.emplace(m_strings.back(), index);
    return {index};
}

std::vector<const std::string*> StringTable::from(std::uint32_t first) const {
    const std::lock_guard lock(m_mutex);
    std::vector<const std::string*> found;
    for (std::size_t index = first - 1; index < m_strings.size(); ++index) {
        found.push_back(&m_strings[index]);
    }
    return found;
}

const std::string& StringTable::at(StringId id) const {
    const std::lock_guard lock(m_mutex);
    return m_strings.at(id.index - 1);
}

std::size_t StringTable::overflow() const {
    const std::lock_guard lock(m_mutex);
    return m_overflow;
}

std::string_view without_counters(std::string_view name, std::string& scratch) {
    constexpr std::array<std::string_view, 2> counters{", seq = ", ", op_id = "};
    constexpr std::string_view list = ", input_op_ids = [";
    const auto cut = [&](std::size_t begin, std::size_t end) {
        std::string rest(name.substr(0, begin));
        rest += name.substr(end);
        scratch = std::move(rest);
        name = scratch;
    };
    for (const auto label : counters) {
        const auto begin = name.find(label);
        if (begin != std::string_view::npos) {
            const auto end = name.find_first_not_of("0123456789", begin + label.size());
            cut(begin, end == std::string_view::npos ? name.size() : end);
        }
    }
    if (const auto begin = name.find(list); begin != std::string_view::npos) {
        // The list is the last part of the name; its brackets may nest.
        cut(begin, name.size());
    }
    return name;
}

} // namespace spng::recorder
