// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace spng {

/// Check the CRC-32 of every member of a network's zip archive, and compare the members that LibTorch reads
/// with the checked ones. LibTorch does not check CRC-32 and trusts the archive's directory.
/// @param file      TorchScript file or AOTInductor package
/// @param expected  description of the file for the error message, such as "a whole TorchScript file"
/// @throws Error(Model) naming file, member and both checksums; c10::Error for an archive that LibTorch
///         cannot read
void require_whole_archive(const std::filesystem::path& file, const std::string& expected);

/// Reject a TorchScript file whose code opens files: LibTorch would run it with the rights of the user. The two
/// operators with a file name are aten::from_file, which also writes, and aten::save.
/// @throws Error(Model) naming member and operator; also for files of LibTorch before 1.1, whose code is elsewhere
void require_no_file_access(const std::filesystem::path& file);

/// Return the metadata.json of a TorchScript file without loading the network. Return "" if there is none, for a damaged
/// file, and for any other file.
std::string torch_script_metadata(const std::filesystem::path& file);

} // namespace spng
