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

} // namespace spng
