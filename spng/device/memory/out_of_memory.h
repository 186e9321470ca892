// SPDX-License-Identifier: Apache-2.0
#pragma once
// Convert exceptions of LibTorch and the C++ library to a readable Error. Exhausted memory has its own class,
// since a run can react to it. For lost devices see lost_device.h.

#include "spng/core/error.h"

#include <string>

namespace spng {

/// Memory is exhausted. The same work may succeed with fewer events in flight.
class OutOfMemory : public Error {
public:
    explicit OutOfMemory(ErrorText text) : Error(ErrorKind::Device, std::move(text)) {}
};

/// Rethrow the exception being handled as an Error or OutOfMemory. An Error keeps its class and text.
/// @param where  outer location to add; empty for none
[[noreturn]] void rethrow_readable(const std::string& where);

/// Return the exception being handled as an Error, like rethrow_readable().
Error current_error();

/// Return true if the text of an exception reports exhausted memory. Only LibTorch's allocator of device
/// memory throws a class of its own; the allocators of CPU and page-locked memory, and libraries and networks
/// with their own allocations, report it in their text.
bool says_out_of_memory(const std::string& text);

/// Return true if the exception being handled reports exhausted memory.
bool handles_out_of_memory();

/// Return LibTorch's text without the C++ stack trace and its advice on debugging CUDA, which do not help a user;
/// at most 600 characters.
std::string without_trace(const std::string& text);

} // namespace spng
