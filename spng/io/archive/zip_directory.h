// SPDX-License-Identifier: Apache-2.0
#pragma once
// The two descriptions of each member of a zip: the header before its data, and the entry in the directory at
// the end of the file. Neither has its own checksum, so damage is detected by comparing them.

#include "spng/io/archive/block_stream.h"

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace spng {

struct ZipMember {
    std::string name;
    std::uint16_t flags = 0;
    std::uint16_t method = 0;
    std::uint32_t checksum = 0;
    std::uint64_t packed_bytes = 0;
    std::uint64_t bytes = 0;
    std::uint64_t header = 0; ///< position of the header before the data
    std::uint64_t data = 0;   ///< position of the data; of verified_zip_directory()
};

/// The file ends before its directory. Members at the beginning may still be complete.
class NoZipDirectory : public std::invalid_argument {
public:
    using std::invalid_argument::invalid_argument;
};

/// Parse the directory of a zip.
/// @param tail  the last bytes of the file, including the whole directory
/// @param tail_begin  position of `tail` in the file
/// @return members in the order of their data
/// @throws NoZipDirectory if there is no end record
/// @throws std::invalid_argument with the reason for a contradicting end record, for entries that are cut or
/// counted wrongly, and for several disks
std::vector<ZipMember> parse_zip_directory(std::span<const std::uint8_t> tail, std::uint64_t tail_begin);

/// Read the directory of a seekable file and compare each entry with the header of its member. Does not move
/// the position of the stream.
/// @throws Error(Input) if the file cannot be read, and as parse_zip_directory()
std::vector<ZipMember> verified_zip_directory(const FileStream& file);

} // namespace spng
