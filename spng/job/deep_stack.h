// SPDX-License-Identifier: Apache-2.0
#pragma once
// Jsonnet's library parses, checks and evaluates by recursion, so the depth of an expression is limited by
// the stack. One level takes 0.6 to 3 kB: the usual 8 MB overflow at 2,800 nested objects, 128 MB at 44,000.

#include <functional>
#include <string>

namespace spng {

/// Run `work` on a thread with a stack of 128 MB, of which only the touched part takes memory. An exception
/// of `work` is rethrown here. If that stack overflows too, write `overflow_message` to standard error and
/// end the program with status 2: the recursion cannot be unwound. Calls of other threads wait.
/// @throws std::bad_alloc if the address space has no room for the stack and 64 MB more
void run_on_deep_stack(const std::function<void()>& work, const std::string& overflow_message);

} // namespace spng
