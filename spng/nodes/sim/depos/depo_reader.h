#pragma once
// Depositions in the field's files: arrays depo_data_<ident>.npy and
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

/// Both arrays as the field stores them, -> (7, n) and (4, n).
/// Depositions may be the columns or the rows of both. Throws Error(Input) with
/// `where` for other shapes, arrays of different length, or numbers that are no
/// 32-bit integers in depo_info.
Depositions depositions_from_arrays(const at::Tensor& data, const at::Tensor& info, const std::string& where);

/// One event of a file.
struct DepoEvent {
    int ident = 0;
    Depositions depositions;
    std::int64_t ancestors = 0; ///< depositions of gen > 0 that were left out
};

/// Reads the events of a .npz, .tar, .tar.gz or .tar.bz2 one after the other,
/// each when both of its arrays have been read. Other members are passed over.
/// Arrays as NpyReader takes them: C or Fortran order, any numeric type.
///
/// The field's files with drifted depositions hold, behind each deposition (gen
/// 0), those that it came from (gen 1, 2, ...; child is the place of their
/// row). These were charge at an earlier time, not charge in addition, and are
/// left out.
class DepoReader {
public:
    /// Throws Error(Input) when there is no such file or it is no archive.
    explicit DepoReader(const std::filesystem::path& path) : m_archive(path) {}

    /// The next event; nothing at the end of the file. Throws Error(Input) naming
    /// file and member for an event that cannot be used, also for one of which an
    /// array is missing; the call after that goes on behind it.
    std::optional<DepoEvent> next();

    /// Up to eight members that are no depositions.
    const std::vector<std::string>& other_members() const { return m_other_members; }

private:
    struct Halves {
        at::Tensor data, info;
    };

    bool read_member(int& ident);
    DepoEvent complete(int ident, const Halves& halves) const;
    [[noreturn]] void missing(int ident, const Halves& halves) const;

    ArchiveReader m_archive;
    NpyReader m_arrays;
    std::map<int, Halves> m_incomplete;
    std::set<int> m_done; ///< events that were returned or failed
    std::vector<std::string> m_other_members;
};

} // namespace spng
