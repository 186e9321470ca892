// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace spng::app {

/// Write a result to stdout and flush it.
/// @throws Error(Output) if it cannot be written, for example because the disk is full
void print_result(const std::string& text);

/// Write a message to stderr and flush it.
void print_message(const std::string& text);

} // namespace spng::app
