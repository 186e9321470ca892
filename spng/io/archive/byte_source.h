// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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

    /// Return file and member, for errors.
    virtual std::string where() const = 0;
};

} // namespace spng
