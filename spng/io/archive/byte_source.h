// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace spng {

/// A finite sequence of bytes, read once from front to back: one member of an archive.
class ByteSource {
public:
    virtual ~ByteSource() = default;

    /// Read up to `bytes` bytes.
    /// @return the count read: less than `bytes` only at the end, 0 after it
    /// @throws Error(Input)
    virtual std::size_t read(void* to, std::size_t bytes) = 0;

    /// Return the count of bytes that the archive declares; nothing if the count follows only after the data.
    virtual std::optional<std::uint64_t> declared_bytes() const = 0;

    /// Read all declared bytes once more from the first one, if the source can: faster than read(), and on a thread of the
    /// caller's choice.
    /// @param to  declared_bytes() long
    /// @return false if the source can be read only in order
    /// @throws Error(Input)
    virtual bool read_whole(std::span<std::uint8_t> to) {
        static_cast<void>(to);
        return false;
    }

    /// Return how many of the declared bytes may be allocated before they arrive.
    virtual std::uint64_t plausible_bytes() const { return std::uint64_t{64} << 20; }

    /// Return file and member, for errors.
    virtual std::string where() const = 0;
};

} // namespace spng
