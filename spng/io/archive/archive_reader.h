// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spng/io/archive/archive_handle.h"
#include "spng/io/archive/block_stream.h"
#include "spng/io/archive/byte_source.h"
#include "spng/io/archive/placed_member.h"
#include "spng/io/archive/tracked_stream.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct archive_entry;

namespace spng {

/// Reads the regular files inside a .zip/.npz or .tar, compressed by gzip, bzip2, xz or zstd or not, one by one. Recognises
/// the format by content, not by name. Keeps at most one block in memory.
///
/// Members of a .tar and of a .zip are read at their places in the file, straight to where they are wanted, and also by
/// other threads (placed_member()). Read in order, through libarchive, are compressed tars, files without seeking (a FIFO,
/// /dev/stdin), and zips without a directory, encrypted or compressed otherwise than by deflate.
///
/// Damage throws an error:
/// - zip: at the end of a damaged member, and where the directory differs from the members (at once, or at
///   the end of a stream). Members behind a damaged one can still be read at their places;
/// - bzip2: at the damaged block;
/// - gzip: at the end of each gzip member, so data returned earlier may be wrong;
/// - tar: headers have checksums, data have none.
/// A file that ends early or continues after its end is damaged; zeros may follow the end.
class ArchiveReader final : public ByteSource {
public:
    /// Gives the order of reading as positions in the list: the names of all files in a zip without folders, in the order
    /// of their offsets. Empty: that order.
    using MemberOrder = std::function<std::vector<std::size_t>(const std::vector<std::string>&)>;

    /// @param order  for zips that are read at the places of their members
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
    bool read_whole(std::span<std::uint8_t> to) override;
    std::optional<std::uint64_t> declared_bytes() const override { return m_declared_bytes; }
    std::uint64_t plausible_bytes() const override;
    std::string where() const override;

    /// Return the member from its first byte as a source of its own, which another thread may read; null if the file can be
    /// read only in order.
    std::unique_ptr<PlacedMember> placed_member() const;

    const std::filesystem::path& path() const { return m_path; }

    /// Return the share of the file that was read, 0 to 1; 0 if it can be read only once.
    double share_read() const;

    /// Read a compressed file once more to its end, to find out whether damage explains unusable content.
    /// Does nothing for files that can be read only once.
    /// @throws Error(Input) if the file is damaged anywhere
    void require_whole() const;

private:
    void open();
    void list_zip_members();
    bool next_listed_member();
    bool next_member_in_order();
    void enter(const std::string& path, std::optional<std::uint64_t> declared_bytes);
    std::optional<MemberPlace> place_of(archive_entry* entry) const;
    bool is_zip() const;
    void check_end(std::int64_t before);
    void check_zip_end(std::uint64_t position);
    [[noreturn]] void fail_damaged(const std::string& seen);
    [[noreturn]] void fail(int status);

    std::filesystem::path m_path;
    std::shared_ptr<const FileStream> m_file; ///< below m_stream
    std::unique_ptr<TrackedStream> m_stream;
    bool m_is_compressed = false;
    std::unique_ptr<StreamCallbacks> m_callbacks;
    std::unique_ptr<archive, ReadFree> m_archive; ///< null after the end or a failure, and for a listed zip
    std::string m_name;
    std::string m_member_path;
    std::optional<std::uint64_t> m_declared_bytes;
    bool m_member_open = false;
    bool m_in_entry = false;            ///< libarchive is at a member of any kind
    std::optional<MemberPlace> m_place; ///< of the member, if it is read there
    std::unique_ptr<PlacedMember> m_placed;

    MemberOrder m_order;
    bool m_may_be_listed = false; ///< a zip whose directory has not been read yet
    bool m_is_listed = false;
    std::vector<MemberPlace> m_listed; ///< members of a zip in the order of reading
    std::size_t m_next_listed = 0;
    std::vector<std::string> m_zip_names; ///< of the members of a zip read in order so far; empty for folders
};

} // namespace spng
