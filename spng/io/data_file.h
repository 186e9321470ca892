#pragma once
// Provenance: the files that a job was prepared from, by path and content.

#include "spng/core/notes.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

namespace spng {

/// A static input as it was read: a network, the wires, a field response, noise spectra.
struct DataFile {
    std::string role;           ///< "model", "wires", "field" or "noise"
    std::filesystem::path path; ///< absolute
    std::uint64_t bytes = 0;
    std::string sha256;   ///< empty for a pipe or a device, which can be read only once
    std::string metadata; ///< of a network: its own JSON text, on one line; else empty

    bool operator==(const DataFile&) const = default;
};

/// Compute the checksum of a file that find_data_file() found.
/// @param role  "model", ...
/// @throws Error(Configuration) for a file that cannot be read, and for one of the project's own data folder
///         that differs from its entry in SHA256SUMS
DataFile identify_data_file(const std::string& role, const std::filesystem::path& path);

/// Throw Error(Configuration) if `file` lies in `folder` and differs from its entry in SHA256SUMS there. A
/// file without an entry is the user's own.
void require_as_shipped(const DataFile& file, const std::filesystem::path& folder);

/// What the output says about the file: its name and its checksum. The folder is left out, so that the same
/// job gives the same bytes from a checkout, an installation and a bundle.
Notes notes_of(const DataFile& file);

nlohmann::json json_of(const DataFile& file);

} // namespace spng
