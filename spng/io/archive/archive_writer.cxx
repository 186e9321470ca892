// SPDX-License-Identifier: Apache-2.0
#include "spng/io/archive/archive_writer.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/error.h"
#include "spng/io/archive/npy_header.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string_view>

namespace spng {

namespace {

constexpr std::size_t block_bytes = 1 << 20;
constexpr std::size_t dense_block_bytes =
    1 << 19;                              // of sparse samples that are expanded: half of a core's cache
constexpr std::size_t longest_name = 100; // in the old tar header, which every reader supports

struct Container {
    std::string_view ending;
    int format;
    int filter;
    const char* module; ///< libarchive's module that takes the compression level; null if there is none
    const char* default_level;
};

/// Why deflate has level 1. Charge: levels 2 and 3 take the same time and save 1 % of the size; storing takes
/// the same time for 40 times the size. ADC: level 2 takes a third more time to save 1 %, level 3 twice the
/// time to save 5 %.
constexpr std::array<Container, 10> containers{{
    {".npz", ARCHIVE_FORMAT_ZIP, ARCHIVE_FILTER_NONE, "zip", "1"},
    {".zip", ARCHIVE_FORMAT_ZIP, ARCHIVE_FILTER_NONE, "zip", "1"},
    {".tar", ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_NONE, nullptr, nullptr},
    {".tar.gz", ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_GZIP, "gzip", "1"},
    {".tgz", ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_GZIP, "gzip", "1"},
    {".tar.bz2", ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_BZIP2, "bzip2", "9"},
    {".tbz2", ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_BZIP2, "bzip2", "9"},
    {".tar.xz", ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_XZ, "xz", "1"},
    {".txz", ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_XZ, "xz", "1"},
    {".tar.zst", ARCHIVE_FORMAT_TAR_USTAR, ARCHIVE_FILTER_ZSTD, "zstd", "3"},
}};

/// Return the container whose ending the name has; containers.end() if there is none.
auto find_container(const std::string& name) {
    return std::find_if(containers.begin(), containers.end(),
                        [&](const Container& known) { return name.ends_with(known.ending); });
}

const Container& container_of(const std::filesystem::path& path) {
    const auto* found = find_container(path.filename().string());
    if (found == containers.end()) {
        throw Error(ErrorKind::Configuration,
                    {.what = "unknown ending of the output file",
                     .where = path.string(),
                     .seen = path.extension().string(),
                     .expected = ".npz, .tar, .tar.gz, .tar.bz2, .tar.xz or .tar.zst",
                     .hint = "choose one of these endings"});
    }
    return *found;
}

std::string level_text(const std::filesystem::path& path, const Container& container,
                       std::optional<int> level) {
    if (!level) {
        return container.default_level;
    }
    if (*level < 0 || *level > 9) {
        throw Error(ErrorKind::Configuration, {.what = "the compression level is out of range",
                                               .where = path.string(),
                                               .seen = std::to_string(*level),
                                               .expected = "0 (none) to 9 (smallest)",
                                               .hint = "choose 1 for speed, 6 for size"});
    }
    return std::to_string(*level);
}

void require_name(const std::string& name, const std::filesystem::path& path) {
    const bool printable =
        std::all_of(name.begin(), name.end(), [](char c) { return c >= 0x20 && c < 0x7f && c != '/'; });
    if (!printable || name.empty() || name.size() > longest_name) {
        throw Error(ErrorKind::Output, {.what = "invalid name of a member of a frame file",
                                        .where = path.string(),
                                        .seen = name,
                                        .expected = "at most 100 printable ASCII characters, no '/'",
                                        .hint = "choose another tag"});
    }
}

} // namespace

void require_known_ending(const std::filesystem::path& path) {
    container_of(path);
}

std::string archive_stem(const std::filesystem::path& path) {
    std::string name = path.filename().string();
    const auto* found = find_container(name);
    return found == containers.end() ? name : name.substr(0, name.size() - found->ending.size());
}

ArchiveWriter::ArchiveWriter(const std::filesystem::path& path, std::optional<int> level)
    : m_path(path), m_archive(archive_write_new()) {
    const Container& container = container_of(path);
    const bool is_plain = container.module == nullptr;
    archive_write_set_format(m_archive.get(), container.format);
    archive_write_add_filter(m_archive.get(), container.filter);
    if (container.module != nullptr) {
        archive_write_set_options(m_archive.get(), (std::string(container.module) + ":compression-level=" +
                                                    level_text(path, container, level))
                                                       .c_str());
    }
    if (container.filter == ARCHIVE_FILTER_GZIP) {
        archive_write_set_filter_option(m_archive.get(), "gzip", "timestamp", nullptr);
    }
    // Blocks would be one more copy of the bytes of a file that is not compressed.
    archive_write_set_bytes_per_block(m_archive.get(), is_plain ? 0 : int{block_bytes});
    archive_write_set_bytes_in_last_block(m_archive.get(), 1); // no padding of the last block
    m_file = std::make_unique<PartialFile>(path);
    check(archive_write_open(m_archive.get(), this, nullptr, &ArchiveWriter::write_block, nullptr));
}

ArchiveWriter::~ArchiveWriter() {
    give_up();
}

void ArchiveWriter::add(const std::string& name, const at::Tensor& tensor) {
    NVTX_IO_RANGE("ArchiveWriter::add", static_cast<std::uint64_t>(tensor.nbytes()));
    if (!tensor.device().is_cpu()) {
        throw Error(ErrorKind::Internal, {.what = "the tensor is not on the host",
                                          .where = m_path.string() + ", member " + name,
                                          .seen = tensor.device().str(),
                                          .expected = "host tensors",
                                          .hint = "report this defect"});
    }
    const at::Tensor data = tensor.contiguous();
    begin_member(name, data.scalar_type(), data.sizes().vec(), data.nbytes());
    append(data.const_data_ptr(), data.nbytes());
    check(archive_write_finish_entry(m_archive.get()));
}

void ArchiveWriter::add(const std::string& name, const SparseSamples& samples) {
    require_faultless(samples, "ArchiveWriter::add");
    const std::size_t item = samples.values.element_size();
    const std::size_t bytes = static_cast<std::size_t>(samples.rows * samples.ticks) * item;
    NVTX_IO_RANGE("ArchiveWriter::add", static_cast<std::uint64_t>(bytes));
    begin_member(name, samples.values.scalar_type(), {samples.rows, samples.ticks}, bytes);
    const auto* const runs = samples.runs.const_data_ptr<std::int32_t>();
    const auto* const values = static_cast<const std::uint8_t*>(samples.values.const_data_ptr());
    std::vector<std::uint8_t> block(
        std::min(bytes, dense_block_bytes)); // stays in the cache, all 0 between uses
    const std::int64_t count = samples.runs.size(0);
    std::int64_t first = 0;      // run of the block
    std::size_t first_value = 0; // byte of its values
    for (std::size_t begin = 0; begin < bytes; begin += block.size()) {
        const std::size_t end = std::min(begin + block.size(), bytes);
        std::int64_t run = first;
        std::size_t value = first_value;
        const auto for_parts_of_runs = [&](const auto& work) {
            for (run = first, value = first_value; run < count; ++run) {
                const std::size_t run_begin =
                    item * static_cast<std::size_t>(runs[3 * run] * samples.ticks + runs[3 * run + 1]);
                const std::size_t run_bytes =
                    item * static_cast<std::size_t>(runs[3 * run + 2] - runs[3 * run + 1]);
                const std::size_t from = std::max(run_begin, begin),
                                  to = std::min(run_begin + run_bytes, end);
                if (from < to) {
                    work(block.data() + (from - begin), values + value + (from - run_begin), to - from);
                }
                if (run_begin + run_bytes > end) {
                    break;
                }
                value += run_bytes;
            }
        };
        for_parts_of_runs([](std::uint8_t* to, const std::uint8_t* from, std::size_t size) {
            std::memcpy(to, from, size);
        });
        append(block.data(), end - begin);
        for_parts_of_runs(
            [](std::uint8_t* to, const std::uint8_t*, std::size_t size) { std::memset(to, 0, size); });
        first = run;
        first_value = value;
    }
    check(archive_write_finish_entry(m_archive.get()));
}

/// Write the headers of the archive and of the array.
/// @param bytes  of the array
void ArchiveWriter::begin_member(const std::string& name, at::ScalarType type,
                                 const std::vector<std::int64_t>& shape, std::size_t bytes) {
    rethrow_copy(m_failure);
    if (!m_archive) {
        throw Error(ErrorKind::Internal, {.what = "the output file is closed",
                                          .where = m_path.string() + ", member " + name,
                                          .seen = "a new member",
                                          .expected = "members before close()",
                                          .hint = "report this defect"});
    }
    require_name(name, m_path);
    const std::string header = npy_header_bytes(type, shape);
    const std::unique_ptr<archive_entry, decltype(&archive_entry_free)> entry(archive_entry_new(),
                                                                              &archive_entry_free);
    archive_entry_set_pathname(entry.get(), name.c_str());
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), 0644);
    archive_entry_set_mtime(entry.get(), 0, 0);
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(header.size() + bytes));
    check(archive_write_header(m_archive.get(), entry.get()));
    append(header.data(), header.size());
}

void ArchiveWriter::append(const void* bytes, std::size_t count) {
    const auto* at = static_cast<const std::uint8_t*>(bytes);
    while (count > 0) {
        const la_ssize_t written = archive_write_data(m_archive.get(), at, count);
        check(written > 0 ? ARCHIVE_OK : ARCHIVE_FATAL);
        at += written;
        count -= static_cast<std::size_t>(written);
    }
}

void ArchiveWriter::close() {
    NVTX_IO_RANGE("ArchiveWriter::close");
    if (!m_is_worth_keeping) {
        return give_up();
    }
    rethrow_copy(m_failure);
    if (m_archive) {
        check(archive_write_close(m_archive.get()));
        m_archive.reset();
        m_file->commit();
    }
}

void ArchiveWriter::mark_worth_keeping() noexcept {
    m_is_worth_keeping = true;
    if (m_file) {
        m_file->mark_worth_keeping();
    }
}

void ArchiveWriter::check(int status) {
    if (status == ARCHIVE_OK && !m_failure) {
        return;
    }
    const std::string reason = error_text(m_archive.get());
    give_up();
    if (!m_failure) {
        m_failure = std::make_exception_ptr(Error(ErrorKind::Output, {.what = "cannot write the output file",
                                                                      .where = m_path.string(),
                                                                      .seen = reason,
                                                                      .expected = "a complete archive",
                                                                      .hint = "choose another output"}));
    }
    rethrow_copy(m_failure);
}

void ArchiveWriter::give_up() noexcept {
    m_file.reset();
    m_archive.reset(); // writes the end of the archive, which write_block() drops
}

/// Always report success to libarchive: exceptions must not pass through the C library, and a libarchive
/// writer that has seen a failure does not free its buffers. check() throws the stored exception.
la_ssize_t ArchiveWriter::write_block(archive*, void* self, const void* bytes, std::size_t count) {
    auto& writer = *static_cast<ArchiveWriter*>(self);
    if (writer.m_file && !writer.m_failure) {
        try {
            writer.m_file->write({static_cast<const std::uint8_t*>(bytes), count});
        } catch (...) {
            writer.m_failure = std::current_exception();
        }
    }
    return static_cast<la_ssize_t>(count);
}

} // namespace spng
