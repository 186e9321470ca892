#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace spng {

/// A finite run of bytes that is read once, front to back: one member of an archive.
class ByteSource {
public:
    virtual ~ByteSource() = default;

    /// Up to `bytes` bytes; fewer only at the end, 0 after it. Throws Error(Input).
    virtual std::size_t read(void* to, std::size_t bytes) = 0;

    /// How many bytes the archive says there are; nothing when it says so only afterwards.
    virtual std::optional<std::uint64_t> declared_bytes() const = 0;

    /// File and member, for errors.
    virtual std::string where() const = 0;
};

} // namespace spng
