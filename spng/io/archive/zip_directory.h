#pragma once
// The two descriptions that a zip holds of each member: the header before its data, and the entry in the
// directory at the end of the file. Neither has a checksum of its own, so damage shows where they differ.

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

    bool is_folder() const { return name.ends_with('/'); }
};

/// The file ends before its directory does, so members at its begin may be whole.
class NoZipDirectory : public std::invalid_argument {
public:
    using std::invalid_argument::invalid_argument;
};

/// Parse the directory in the order of the members' data.
/// @param tail  the last bytes of the file, the whole directory among them
/// @param tail_begin  position of `tail` in the file
/// Throws NoZipDirectory if there is no end record, and std::invalid_argument that says what is wrong for a
/// contradicting end record, entries that are cut or counted wrongly, and several disks.
std::vector<ZipMember> parse_zip_directory(std::span<const std::uint8_t> tail, std::uint64_t tail_begin);

/// The directory of a file that can be sought, with each entry compared with the header of its member. Does
/// not move the position of the stream. Throws as parse_zip_directory() does, and Error(Input).
std::vector<ZipMember> verified_zip_directory(const FileStream& file);

} // namespace spng
