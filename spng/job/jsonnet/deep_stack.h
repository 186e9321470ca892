// SPDX-License-Identifier: Apache-2.0
#pragma once
// Jsonnet's library parses, checks and evaluates by recursion, so the depth of an expression is limited by
// the stack. One level takes 0.6 to 3 kB: the usual 8 MB overflow at 2,800 nested objects, 128 MB at 44,000.
// It also ends the process where it finds no memory, and in std.parseYaml for YAML that it does not know.

#include "spng/core/error.h"

#include <functional>

namespace spng {

/// Errors to report for work that cannot return.
struct FaultErrors {
    Error overflow; ///< its stack overflowed
    Error abort;    ///< it called abort()
};

/// Run `work` on a thread with a stack of 128 MB, of which only the touched part takes memory. An exception
/// of `work` is rethrown here. Calls of other threads wait. Meanwhile the process has other handlers of SIGSEGV and SIGABRT,
/// which pass on what happens on other threads.
/// @throws std::bad_alloc if the address space has no room for the stack and 64 MB more
/// @param library  address of a function of the library that recurses. An overflow counts in its code only, not in malloc or
///                 other functions that it calls, which may hold a lock
/// @throws errors.overflow if that stack overflows too, and errors.abort if the work calls abort(). Its thread and stack then
///         stay until the process ends.
void run_on_deep_stack(const std::function<void()>& work, FaultErrors errors, const void* library);

} // namespace spng
