// SPDX-License-Identifier: Apache-2.0
#pragma once
// Provenance: the static files that a job used, by path and content.

#include "spng/core/notes.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

namespace spng {

/// Name of the list of checksums in the project's data folder, as sha256sum writes it.
inline constexpr const char* checksum_list = "SHA256SUMS";

/// A static input: a network, the wires, a field response, noise spectra or a channel list.
struct DataFile {
    std::string role;           ///< "model", "wires", "field", "electronics", "noise" or "channels"
    std::filesystem::path path; ///< absolute
    std::uint64_t bytes = 0;
    std::string sha256;   ///< empty for a pipe or a device, which can be read only once
    std::string metadata; ///< JSON text of a network, on one line; empty for other files

    bool operator==(const DataFile&) const = default;
};

/// Compute the checksum of a file that find_data_file() found.
/// @param role  "model", ...
/// @throws Error(Configuration) if the file cannot be read, or if it lies in the project's own data folder
/// and differs from its entry in SHA256SUMS
DataFile identify_data_file(const std::string& role, const std::filesystem::path& path);

/// Throw Error(Configuration) if `file` lies in `folder` and differs from its entry in SHA256SUMS there.
/// Accept files without an entry: they are the user's own.
void require_as_shipped(const DataFile& file, const std::filesystem::path& folder);

/// Return the notes for the output: the name and the checksum of the file. They leave out the folder, so that
/// a job gives the same bytes from a checkout, an installation and a wheel.
Notes notes_of(const DataFile& file);

/// Return all members as JSON, with the metadata as an object.
nlohmann::json json_of(const DataFile& file);

} // namespace spng
