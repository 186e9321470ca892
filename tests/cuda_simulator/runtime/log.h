// SPDX-License-Identifier: Apache-2.0
#pragma once
// Counts of calls and operations, defects, and the report that is written when the process ends.

#include "tests/cuda_simulator/runtime/state.h"

namespace cuda_simulator {

/// Demangled and without template arguments of more than a few characters.
std::string readable(const std::string& name);

void count(const Launch& launch);
void count_captured(const Launch& launch);
void count_replay(const Graph& graph);
/// @param name  with version; counted without it
void count_call(const char* name);
void count_wait(const char* name);

/// @param is_write  the later access is one
void report_race(const Actor& earlier, const Actor& later, bool is_write, const Block& block);

/// A call that broke a capture: with its call stack.
void report_broken_capture(const char* name);

/// Number of the call of the runtime that this thread is in.
std::uint32_t current_correlation();
std::uint32_t begin_correlation();

} // namespace cuda_simulator
