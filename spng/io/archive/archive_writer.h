#pragma once

#include "spng/core/files/partial_file.h"
#include "spng/io/archive/archive_handle.h"

#include <ATen/core/Tensor.h>

#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace spng {

/// Writes arrays as .npy members of a .npz (or .zip), .tar, .tar.gz (.tgz) or .tar.bz2 (.tbz2); the file's
/// ending decides. The same arrays give the same bytes every time: no time, user or machine goes in. The file
/// appears under its name at close() (see PartialFile, also for SIGXFSZ).
class ArchiveWriter {
public:
    /// @param level  0 (stored) to 9 (smallest); without one the fast 1 for .npz and .tar.gz, 9 for
    ///               .tar.bz2, whose speed does not depend on it. No effect on .tar.
    /// Measured on 2560 x 6000 samples, one core, ms and MB:
    ///                          npz 0    npz 1     npz 6      tar     tar.gz 1  tar.bz2 9
    ///   int16 ADC with noise   25 30.7  463 13.8  3319 13.6  15 30.7  407 13.8  1973 9.7
    ///   float32 sparse charge  44 61.4  119 2.3   207 2.1    14 61.4  120 2.3   800 2.0
    /// Throws Error(Configuration) for another ending or level, Error(Output) when the file cannot be made.
    explicit ArchiveWriter(const std::filesystem::path& path, std::optional<int> level = std::nullopt);
    ~ArchiveWriter();

    /// Add `tensor`, on the host, of any type NumPy knows, in C order, as member `name` (printable ASCII, no
    /// '/', at most 100 characters). Throws Error(Output) for another name; and when writing fails: the file
    /// is then gone, and this and close() throw the same from then on.
    void add(const std::string& name, const at::Tensor& tensor);

    /// Say that what is in the file, or about to be added, is worth waiting for when the program is asked to
    /// stop (see TemporaryFile).
    void mark_worth_keeping() noexcept;

    /// Complete the file and give it its name. Does nothing when it was done before.
    void close();

private:
    void check(int status);
    void give_up() noexcept;
    void append(const void* bytes, std::size_t count);
    static ssize_t write_block(archive* handle, void* self, const void* bytes, std::size_t count);

    std::filesystem::path m_path;
    std::unique_ptr<PartialFile> m_file;           ///< null after a failure
    std::unique_ptr<archive, WriteFree> m_archive; ///< null after close() or a failure
    std::exception_ptr m_failure;                  ///< the first one
};

} // namespace spng
