#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace spng {

/// Compare every member of a network's zip archive with its CRC-32, and the members that LibTorch reads with
/// those that were compared. LibTorch itself checks no CRC-32 and believes the archive's directory.
/// @param file      TorchScript file or AOTInductor package
/// @param bytes     its size, for the message
/// @param expected  "a whole TorchScript file"
/// @throws Error(Model) naming file, member and both checksums; c10::Error for an archive that LibTorch
///         cannot read
void require_whole_archive(const std::filesystem::path& file, std::uintmax_t bytes,
                           const std::string& expected);

} // namespace spng
