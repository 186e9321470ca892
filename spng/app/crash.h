// SPDX-License-Identifier: Apache-2.0
#pragma once
// A crash in native code ends in an error block, too.

namespace spng::app {

/// On SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT print an error block that names the node call of the thread
/// and a limit of the address space, remove temporary files, and end by the same signal, so that its exit status
/// and a core file are as without the handler. A handler of a debugging tool, such as that of a sanitizer, stays.
/// Call it on the main thread: only its overflowing stack is reported.
void report_crashes();

} // namespace spng::app
