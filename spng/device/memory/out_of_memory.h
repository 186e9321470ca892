#pragma once
// What LibTorch and the C++ library throw becomes a readable Error, and memory that did not suffice a class
// of its own, since a run can do something about it. For devices that are gone see lost_device.h.

#include "spng/core/error.h"

#include <string>

namespace spng {

/// Memory did not suffice. The same work may succeed when less is done at the same time.
class OutOfMemory : public Error {
public:
    explicit OutOfMemory(ErrorText text) : Error(ErrorKind::Device, std::move(text)) {}
};

/// To be called while an exception is handled: throws it as an Error or OutOfMemory with `where` as its
/// outer place (none when empty). Errors keep their class and text.
[[noreturn]] void rethrow_readable(const std::string& where);

/// Only LibTorch's allocator of device memory throws a class of its own. That of the CPU, page-locked memory,
/// and the libraries and networks that allocate for themselves say it in their text.
bool says_out_of_memory(const std::string& text);

/// What LibTorch says, without the C++ stack trace behind it, which tells a user nothing; at most 600
/// characters.
std::string without_trace(const std::string& text);

} // namespace spng
