#pragma once

#include "spng/io/archive_handle.h"
#include "spng/io/block_stream.h"
#include "spng/io/byte_source.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace spng {

/// The regular files inside a .zip/.npz, .tar, .tar.gz or .tar.bz2, one after the other. The content decides
/// which of them it is, not the file's name. Nothing is held in memory beyond a block; a file that cannot be
/// sought (a FIFO, /dev/stdin) is read as a stream.
///
/// A zip is read in the order of its local headers or, when it can be sought, of its members' offsets.
/// Damage throws: a zip is verified when a member has been read to its end, bzip2 by blocks, gzip at the end
/// of the file, so that only its last event is known to be good when it comes out. A plain .tar has no
/// checksum of data.
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

private:
    void open();
    [[noreturn]] void fail(int status);

    std::filesystem::path m_path;
    std::unique_ptr<BlockStream> m_stream;
    std::unique_ptr<StreamCallbacks> m_callbacks;
    std::unique_ptr<archive, ReadFree> m_archive; ///< null after the end or a failure
    std::string m_name;
    std::string m_member_path;
    std::optional<std::uint64_t> m_declared_bytes;
    bool m_member_open = false;
};

} // namespace spng
