// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spng/core/files/partial_file.h"
#include "spng/core/sparse_samples.h"
#include "spng/io/archive/archive_handle.h"

#include <ATen/core/Tensor.h>

#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spng {

/// Check the name of an archive before any work is done.
/// @throws Error(Configuration) unless its ending is one of ArchiveWriter
void require_known_ending(const std::filesystem::path& path);

/// Return the name of a file without its folder and the ending of an archive.
std::string archive_stem(const std::filesystem::path& path);

/// Writes arrays as .npy members of a .npz (or .zip), .tar, .tar.gz (.tgz), .tar.bz2 (.tbz2), .tar.xz (.txz) or
/// .tar.zst, chosen by the file's ending. Equal arrays give equal bytes: the archive contains no time, user or machine. The file
/// appears under its name at close() (see PartialFile, also for SIGXFSZ).
class ArchiveWriter {
public:
    /// Create the file under a temporary name.
    ///
    /// Time [ms] and size [MB] for 2560 x 6000 samples on one core, by format and level:
    ///                          npz 0    npz 1     npz 6      tar     tar.gz 1  tar.bz2 9
    ///   int16 ADC with noise   25 30.7  463 13.8  3319 13.6  15 30.7  407 13.8  1973 9.7
    ///   float32 sparse charge  44 61.4  119 2.3   207 2.1    14 61.4  120 2.3   800 2.0
    /// @param level  0 (fastest; .npz and .tar.gz are then stored) to 9 (smallest). Default: the fast 1 for .npz, .tar.gz
    ///               and .tar.xz, 3 for .tar.zst; 9 for .tar.bz2, whose speed does not depend on the level. No effect on
    ///               .tar.
    /// @throws Error(Configuration) for another ending or level
    /// @throws Error(Output) if the file cannot be created
    explicit ArchiveWriter(const std::filesystem::path& path, std::optional<int> level = std::nullopt);
    ~ArchiveWriter();

    /// Add a member in C order.
    /// @param name    printable ASCII without '/', at most 100 characters
    /// @param tensor  on the host, of any type that NumPy has
    /// @throws Error(Output) for another name, or if writing fails. After a failed write the file is removed,
    /// and later calls of add() and close() throw the same error.
    void add(const std::string& name, const at::Tensor& tensor);

    /// Add dense(samples) as a member, with the same bytes, without making the array.
    /// @throws Error(Internal) for samples with a fault; Error(Output) as for a tensor
    void add(const std::string& name, const SparseSamples& samples);

    /// Mark the file as holding, or about to hold, an event; see also TemporaryFile.
    void mark_worth_keeping() noexcept;

    /// Complete the file and give it its name; remove a file that is not worth keeping. Does nothing when
    /// called again.
    /// @throws Error(Output)
    void close();

private:
    void begin_member(const std::string& name, at::ScalarType type, const std::vector<std::int64_t>& shape,
                      std::size_t bytes);
    void check(int status);
    void give_up() noexcept;
    void append(const void* bytes, std::size_t count);
    static ssize_t write_block(archive* handle, void* self, const void* bytes, std::size_t count);

    std::filesystem::path m_path;
    std::unique_ptr<PartialFile> m_file;           ///< null after a failure
    std::unique_ptr<archive, WriteFree> m_archive; ///< null after close() or a failure
    std::exception_ptr m_failure;                  ///< the first one
    bool m_is_worth_keeping = false;
};

} // namespace spng
