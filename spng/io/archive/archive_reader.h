// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spng/io/archive/archive_handle.h"
#include "spng/io/archive/block_stream.h"
#include "spng/io/archive/byte_source.h"
#include "spng/io/archive/tracked_stream.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spng {

/// Reads the regular files inside a .zip/.npz, .tar, .tar.gz or .tar.bz2 one by one. Recognises the format by
/// content, not by name. Keeps at most one block in memory. Reads a file without seeking (a FIFO, /dev/stdin)
/// as a stream.
///
/// A zip is read in the order of its members' offsets, in a MemberOrder or, without seeking, in the order of its
/// local headers.
///
/// Damage throws an error:
/// - zip: at the end of a damaged member, and where the directory differs from the members (at once, or at
///   the end of a stream);
/// - bzip2: at the damaged block;
/// - gzip: at the end of each gzip member, so data returned earlier may be wrong;
/// - tar: headers have checksums, data have none.
/// A file that ends early or continues after its end is damaged; zeros may follow the end.
class ArchiveReader final : public ByteSource {
public:
    /// Gives the order of reading as positions in the list: the names of all members of a zip without folders,
    /// empty for folders, in the order of their offsets. Empty: that order.
    using MemberOrder = std::function<std::vector<std::size_t>(const std::vector<std::string>&)>;

    /// @param order  for zips that can be read with seeking
    /// @throws Error(Input) if there is no such file or it is no such archive
    explicit ArchiveReader(std::filesystem::path path, MemberOrder order = {});
    ~ArchiveReader() override;

    /// Go to the next member, skipping the rest of the current one.
    /// @return false at the end of a complete file
    /// @throws Error(Input) if the file is damaged or cut short; the reader is then at its end
    bool next_member();

    /// Return the name of the member without folders.
    const std::string& member_name() const { return m_name; }
    /// Return the name of the member with its folders.
    const std::string& member_path() const { return m_member_path; }

    /// Read bytes of the member.
    /// @throws Error(Input) as next_member()
    std::size_t read(void* to, std::size_t bytes) override;
    std::optional<std::uint64_t> declared_bytes() const override { return m_declared_bytes; }
    std::string where() const override;

    const std::filesystem::path& path() const { return m_path; }

    /// Return the share of the file that was read, 0 to 1; 0 if it can be read only once.
    double share_read() const;

    /// Read a compressed file once more to its end, to find out whether damage explains unusable content.
    /// Does nothing for files that can be read only once.
    /// @throws Error(Input) if the file is damaged anywhere
    void require_whole() const;

private:
    void open();
    bool open_ordered_member();
    std::size_t listed_position() const;
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
    const FileStream* m_file = nullptr;       ///< the file below m_stream
    const FileStream* m_plain_file = nullptr; ///< the file below m_stream if it supports seeking
    std::unique_ptr<StreamCallbacks> m_callbacks;
    std::unique_ptr<archive, ReadFree> m_archive; ///< null after the end or a failure
    std::string m_name;
    std::string m_member_path;
    std::optional<std::uint64_t> m_declared_bytes;
    bool m_member_open = false;
    bool m_in_entry = false; ///< libarchive is at a member of any kind

    /// Names of the members of a zip in order, empty for folders: from its directory or, for a stream, of the
    /// members read so far.
    std::vector<std::string> m_zip_names;
    std::vector<std::uint64_t> m_zip_headers; ///< their positions, from the directory
    MemberOrder m_order;                      ///< until the directory is read
    std::vector<std::size_t> m_zip_order;     ///< its answer
    std::size_t m_zip_position = 0;           ///< count of members read
    bool m_zip_is_listed = false;
    std::string m_zip_problem; ///< why a zip has no directory; thrown after its last member
};

} // namespace spng
