// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace spng {

/// Return the text of a configuration; empty if it cannot be read. A pipe can be read only once, so its text is kept
/// for the calls that follow.
std::string jsonnet_text(const std::filesystem::path& file);

} // namespace spng
