// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reader of deposition files of the Wire-Cell Toolkit: arrays depo_data_<ident>.npy and
// depo_info_<ident>.npy.

#include "spng/io/archive/archive_reader.h"
#include "spng/io/archive/npy_reader.h"
#include "spng/nodes/sim/depos/depositions.h"

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace spng {

/// Convert the two arrays of a file. Depositions may be the columns or the rows of both.
/// @param where  file and event, for error messages
/// @return data (7, n) and info (4, n)
/// @throws Error(Input) for other shapes, arrays of different length, or values in depo_info that are not
///         32-bit integers
Depositions depositions_from_arrays(const at::Tensor& data, const at::Tensor& info, const std::string& where);

/// One event of a file.
struct DepoEvent {
    int ident = 0;
    Depositions depositions;
    std::int64_t ancestors = 0; ///< number of ignored depositions with gen > 0
};

/// Read the events of a .npz, .tar, .tar.gz or .tar.bz2 file, in the order in which their second array ends.
/// Other members are ignored. NpyReader reads the arrays: C or Fortran order, any numeric type.
///
/// WCT's files with drifted depositions hold after each deposition (gen 0) the depositions from which it came
/// (gen 1, 2, ...; child is the index of their row). These are the same charge at an earlier time and are
/// ignored.
class DepoReader {
public:
    /// @throws Error(Input) if the file does not exist or is not an archive
    explicit DepoReader(const std::filesystem::path& path) : m_archive(path) {}

    /// Return the next event; nothing at the end of the file.
    /// @throws Error(Input) naming file and member if an event is damaged or lacks an array; the next call
    ///         continues with the following event
    std::optional<DepoEvent> next();

    /// Return the names of up to eight members that are not depositions.
    const std::vector<std::string>& other_members() const { return m_other_members; }

private:
    struct Halves {
        at::Tensor data, info;
    };

    bool read_member(int& ident);
    DepoEvent complete(int ident, const Halves& halves) const;
    [[noreturn]] void reject_incomplete(int ident, const Halves& halves) const;

    ArchiveReader m_archive;
    NpyReader m_arrays;
    std::map<int, Halves> m_incomplete;
    std::set<int> m_done; ///< events that were returned or failed
    std::vector<std::string> m_other_members;
};

} // namespace spng
