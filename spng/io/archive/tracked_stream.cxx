// SPDX-License-Identifier: Apache-2.0
#include "spng/io/archive/tracked_stream.h"

#include <algorithm>
#include <utility>

namespace spng {

namespace {

constexpr std::size_t kept_bytes = 1024; // more than a reader looks ahead

} // namespace

TrackedStream::TrackedStream(std::shared_ptr<BlockStream> source) : m_source(std::move(source)) {}

std::span<const std::uint8_t> TrackedStream::next_block() {
    const std::size_t kept = std::min(m_last.size(), kept_bytes);
    if (kept > 0) {
        m_before_last.assign(m_last.end() - static_cast<std::ptrdiff_t>(kept), m_last.end());
    }
    m_last = {}; // invalid if the call throws
    m_last = m_source->next_block();
    const auto content =
        std::find_if(m_last.rbegin(), m_last.rend(), [](std::uint8_t byte) { return byte != 0; });
    if (content != m_last.rend()) {
        m_end_of_content = m_end + static_cast<std::uint64_t>(m_last.rend() - content);
    }
    m_end += m_last.size();
    return m_last;
}

std::int64_t TrackedStream::seek(std::int64_t offset, int whence) {
    const std::int64_t position = m_source->seek(offset, whence);
    if (position >= 0) {
        m_last = {};
        m_before_last.clear();
        m_end = static_cast<std::uint64_t>(position);
    }
    return position;
}

bool TrackedStream::only_zeros_from(std::uint64_t position) {
    while (!next_block().empty()) {
    }
    return m_end_of_content <= position;
}

std::vector<std::uint8_t> TrackedStream::rest_from(std::uint64_t position) {
    std::vector<std::uint8_t> rest = m_before_last;
    rest.insert(rest.end(), m_last.begin(), m_last.end());
    const std::uint64_t begin = m_end - rest.size();
    const std::uint64_t used = position > begin ? position - begin : 0;
    rest.erase(rest.begin(),
               rest.begin() + static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(used, rest.size())));
    for (auto block = next_block(); !block.empty(); block = next_block()) {
        rest.insert(rest.end(), block.begin(), block.end());
    }
    return rest;
}

} // namespace spng
