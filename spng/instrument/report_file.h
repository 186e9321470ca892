#pragma once

#include <filesystem>
#include <string>

namespace spng::instrument {

/// Write a report to a file that appears under its name only when it is complete; devices and pipes are
/// written in place (see core/output_path.h). Throws Error(Output), naming the option that the user gave the
/// path with.
void write_report_file(const std::filesystem::path& path, const std::string& text, const std::string& option);

} // namespace spng::instrument
