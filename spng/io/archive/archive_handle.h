// SPDX-License-Identifier: Apache-2.0
#pragma once
// Wrapper of libarchive's C interface: lifetime, error text, names, and reading from a BlockStream.

#include "spng/io/archive/block_stream.h"

#include <cstdint>
#include <exception>
#include <string>

#include <locale.h>
#include <sys/types.h>

struct archive;

namespace spng {

struct ReadFree {
    void operator()(archive* handle) const;
};

struct WriteFree {
    void operator()(archive* handle) const;
};

/// Return libarchive's text for its last failure; never empty.
std::string error_text(archive* handle);

/// While it lives, libarchive converts names of this thread to UTF-8, whatever the locale of the process.
class Utf8Names {
public:
    Utf8Names();
    ~Utf8Names();
    Utf8Names(const Utf8Names&) = delete;
    Utf8Names& operator=(const Utf8Names&) = delete;

private:
    locale_t m_before;
};

/// Feeds a libarchive reader from a BlockStream. Exceptions must not pass through the C library: an exception
/// of the stream is stored, libarchive sees a read error, and the caller rethrows.
class StreamCallbacks {
public:
    explicit StreamCallbacks(BlockStream& stream) : m_stream(&stream) {}

    /// Open `handle` on the stream. Do not move or destroy this object before the handle.
    /// @return libarchive's status
    int open(archive* handle);

    /// Throw the stored exception of the stream, if any.
    void rethrow() const;

private:
    static ssize_t read(archive* handle, void* self, const void** block);
    static std::int64_t seek(archive* handle, void* self, std::int64_t offset, int whence);

    BlockStream* m_stream;
    std::exception_ptr m_failure;
};

} // namespace spng
