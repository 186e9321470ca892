#pragma once
// The seam to libarchive's C interface: lifetime, error text, and reading from a BlockStream.

#include "spng/io/archive/block_stream.h"

#include <cstdint>
#include <exception>
#include <string>

#include <sys/types.h>

struct archive;

namespace spng {

struct ReadFree {
    void operator()(archive* handle) const;
};

struct WriteFree {
    void operator()(archive* handle) const;
};

/// What libarchive says about its last failure; never empty.
std::string error_text(archive* handle);

/// Feeds a libarchive reader from a BlockStream. Exceptions of the stream do not pass through the C library:
/// they are kept, libarchive sees a read error, and the caller rethrows.
class StreamCallbacks {
public:
    explicit StreamCallbacks(BlockStream& stream) : m_stream(&stream) {}

    /// Open `handle` on the stream: with seeking when the stream has it. Returns libarchive's status.
    /// This object must stay where it is as long as the handle lives.
    int open(archive* handle);

    /// Throw the exception that the stream threw, if it did.
    void rethrow() const;

private:
    static ssize_t read(archive* handle, void* self, const void** block);
    static std::int64_t seek(archive* handle, void* self, std::int64_t offset, int whence);

    BlockStream* m_stream;
    std::exception_ptr m_failure;
};

} // namespace spng
