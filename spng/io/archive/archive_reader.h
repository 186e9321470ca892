#pragma once

#include "spng/io/archive/archive_handle.h"
#include "spng/io/archive/block_stream.h"
#include "spng/io/archive/byte_source.h"
#include "spng/io/archive/tracked_stream.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spng {

/// The regular files inside a .zip/.npz, .tar, .tar.gz or .tar.bz2, one after the other. The content decides
/// which of them it is, not the file's name. Nothing is held in memory beyond a block; a file that cannot be
/// sought (a FIFO, /dev/stdin) is read as a stream.
///
/// A zip is read in the order of its local headers or, when it can be sought, of its members' offsets.
/// Damage throws: of a zip when a member has been read to its end, and where its directory differs from the
/// members (at once, in a stream at the end); of bzip2 by blocks; of gzip at the end of each gzip member, so
/// that what came out before may be wrong. The headers of a tar have checksums, its data have none. A file
/// that ends early or goes on behind its end is damaged; zeros may follow.
class ArchiveReader final : public ByteSource {
public:
    /// Throws Error(Input) when there is no such file or it is no such archive.
    explicit ArchiveReader(std::filesystem::path path);
    ~ArchiveReader() override;

    /// Go to the next member, skipping what is left of this one. False at the end of a file that is whole.
    /// Throws Error(Input) when the file is damaged or cut short; the reader is then at its end.
    bool next_member();

    /// Name of the member without folders.
    const std::string& member_name() const { return m_name; }
    /// Name of the member with its folders.
    const std::string& member_path() const { return m_member_path; }

    /// Bytes of the member. Throws Error(Input) as next_member() does.
    std::size_t read(void* to, std::size_t bytes) override;
    std::optional<std::uint64_t> declared_bytes() const override { return m_declared_bytes; }
    std::string where() const override;

    const std::filesystem::path& path() const { return m_path; }

    /// Throws Error(Input) when a compressed file is damaged anywhere. Reads all of it once more, so that
    /// content that makes no sense is blamed on damage where there is some; does nothing for what can be read
    /// only once.
    void require_whole() const;

private:
    void open();
    bool is_zip() const;
    void check_end(std::int64_t before);
    void check_zip_member(const std::string& name, bool is_file);
    void read_zip_directory();
    void check_zip_end(std::uint64_t position);
    [[noreturn]] void fail_damaged(const std::string& seen);
    [[noreturn]] void fail(int status);

    std::filesystem::path m_path;
    std::unique_ptr<TrackedStream> m_stream;
    bool m_is_compressed = false;
    const FileStream* m_plain_file = nullptr; ///< what m_stream reads, when it can be sought
    std::unique_ptr<StreamCallbacks> m_callbacks;
    std::unique_ptr<archive, ReadFree> m_archive; ///< null after the end or a failure
    std::string m_name;
    std::string m_member_path;
    std::optional<std::uint64_t> m_declared_bytes;
    bool m_member_open = false;
    bool m_in_entry = false; ///< libarchive is at a member of any kind

    /// Of a zip, in their order; empty for folders. From its directory; of a stream, of the members so far.
    std::vector<std::string> m_zip_names;
    std::size_t m_zip_position = 0;
    bool m_zip_is_listed = false;
    std::string m_zip_problem; ///< of a file without a directory, told when its members have come out
};

} // namespace spng
