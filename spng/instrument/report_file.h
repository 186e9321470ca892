// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace spng::instrument {

/// Write a report as PartialFile does: the file appears under its name only when it is complete.
/// @param option  the command line option that named the path, for the error
/// @throws Error(Output) if the file cannot be written
void write_report_file(const std::filesystem::path& path, const std::string& text, const std::string& option);

} // namespace spng::instrument
