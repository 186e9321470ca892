// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spng/io/archive/block_stream.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace spng {

/// Passes blocks on and keeps enough of them to examine the bytes after the position where a reader stopped:
/// readers take whole blocks and stop somewhere inside one.
class TrackedStream final : public BlockStream {
public:
    explicit TrackedStream(std::shared_ptr<BlockStream> source);

    std::span<const std::uint8_t> next_block() override;
    bool seekable() const override { return m_source->seekable(); }
    std::int64_t seek(std::int64_t offset, int whence) override;

    /// Read to the end.
    /// @return true if all bytes from `position` to the end are zero
    bool only_zeros_from(std::uint64_t position);

    /// Read to the end.
    /// @param position  in the last block, or shortly before it
    /// @return all bytes from `position` to the end
    std::vector<std::uint8_t> rest_from(std::uint64_t position);

private:
    std::shared_ptr<BlockStream> m_source;
    std::span<const std::uint8_t> m_last;
    std::vector<std::uint8_t> m_before_last; ///< the last bytes before m_last
    std::uint64_t m_end = 0;                 ///< position after m_last
    std::uint64_t m_end_of_content = 0;      ///< position after the last non-zero byte
};

} // namespace spng
