// SPDX-License-Identifier: Apache-2.0
#include "spng/io/archive/zip_directory.h"

#include <algorithm>
#include <stdexcept>

namespace spng {

namespace {

// Layouts: APPNOTE.TXT of PKWARE, 4.3.7 (header), 4.3.12 (entry), 4.3.14 to 4.3.16 (end records), 4.5.3
// (zip64).
constexpr std::uint32_t header_mark = 0x04034b50, entry_mark = 0x02014b50, end_mark = 0x06054b50;
constexpr std::uint32_t end64_mark = 0x06064b50, locator_mark = 0x07064b50;
constexpr std::size_t header_bytes = 30, entry_bytes = 46, end_bytes = 22, locator_bytes = 20;
constexpr std::size_t end64_bytes = 56;
constexpr std::size_t longest_comment = 0xFFFF;
constexpr std::uint32_t in_zip64 = 0xFFFFFFFF; // the value is in the extra field
constexpr std::uint16_t in_zip64_short = 0xFFFF;
constexpr std::uint16_t zip64_field = 1;
constexpr std::uint16_t sizes_follow_data = 8; // flag: checksum and sizes are after the data

using Bytes = std::span<const std::uint8_t>;

[[noreturn]] void reject(const std::string& what) {
    throw std::invalid_argument(what);
}

/// Read a little-endian integer.
/// @throws std::invalid_argument beyond the end
std::uint64_t integer(Bytes bytes, std::size_t at, std::size_t size) {
    if (at > bytes.size() || bytes.size() - at < size) {
        reject("its directory is cut short");
    }
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
        value |= std::uint64_t{bytes[at + i]} << (8 * i);
    }
    return value;
}

std::uint16_t short_at(Bytes bytes, std::size_t at) {
    return static_cast<std::uint16_t>(integer(bytes, at, 2));
}

std::uint32_t long_at(Bytes bytes, std::size_t at) {
    return static_cast<std::uint32_t>(integer(bytes, at, 4));
}

Bytes part(Bytes bytes, std::size_t at, std::size_t size) {
    if (at > bytes.size() || bytes.size() - at < size) {
        reject("its directory is cut short");
    }
    return bytes.subspan(at, size);
}

std::string text(Bytes bytes) {
    return {bytes.begin(), bytes.end()};
}

/// Replace the values that are too large for 32 bits by those of the zip64 field, in the given order.
void read_zip64(Bytes extra, std::initializer_list<std::uint64_t*> numbers) {
    Bytes field;
    for (std::size_t at = 0; at + 4 <= extra.size(); at += 4 + short_at(extra, at + 2)) {
        if (short_at(extra, at) == zip64_field) {
            field = part(extra, at + 4, short_at(extra, at + 2));
        }
    }
    std::size_t at = 0;
    for (std::uint64_t* value : numbers) {
        if (*value == in_zip64) {
            *value = integer(field, at, 8);
            at += 8;
        }
    }
}

struct Directory {
    std::uint64_t begin = 0, end = 0, members = 0; ///< positions in the file
};

/// Return the position of the end record in `tail`: the last one that only its comment and zeros follow.
std::size_t end_record(Bytes tail) {
    for (std::size_t from_end = end_bytes; from_end <= tail.size(); ++from_end) {
        const std::size_t at = tail.size() - from_end;
        if (tail[at] != 0x50 || long_at(tail, at) != end_mark) {
            continue;
        }
        const std::size_t behind = at + end_bytes + short_at(tail, at + 20);
        if (behind <= tail.size() && std::all_of(tail.begin() + static_cast<std::ptrdiff_t>(behind),
                                                 tail.end(), [](std::uint8_t byte) { return byte == 0; })) {
            return at;
        }
    }
    throw NoZipDirectory("its end record is missing");
}

Directory find_directory(Bytes tail, std::uint64_t tail_begin) {
    const std::size_t at = end_record(tail);
    const std::uint64_t position = tail_begin + at;
    if (short_at(tail, at + 4) != 0 || short_at(tail, at + 6) != 0 ||
        short_at(tail, at + 8) != short_at(tail, at + 10)) {
        reject("its end record names several disks");
    }
    Directory found{.begin = long_at(tail, at + 16), .end = position, .members = short_at(tail, at + 10)};
    std::uint64_t bytes = long_at(tail, at + 12);
    if (at >= locator_bytes && long_at(tail, at - locator_bytes) == locator_mark) {
        const std::uint64_t end64 = integer(tail, at - locator_bytes + 8, 8);
        if (end64 < tail_begin || end64 + end64_bytes + locator_bytes > position) {
            reject("the position of its zip64 end record is wrong");
        }
        const auto at64 = static_cast<std::size_t>(end64 - tail_begin);
        if (long_at(tail, at64) != end64_mark) {
            reject("its zip64 end record is missing");
        }
        const auto widened = [](std::uint64_t narrow, std::uint64_t marker, std::uint64_t wide) {
            if (narrow != marker && narrow != wide) {
                reject("its two end records differ");
            }
            return wide;
        };
        found.members = widened(found.members, in_zip64_short, integer(tail, at64 + 32, 8));
        bytes = widened(bytes, in_zip64, integer(tail, at64 + 40, 8));
        found.begin = widened(found.begin, in_zip64, integer(tail, at64 + 48, 8));
        found.end = end64;
    }
    if (found.begin > found.end || found.end - found.begin != bytes) {
        reject("its end record contradicts the size of the file");
    }
    return found;
}

/// Parse the entry at `at` and move `at` past it.
ZipMember read_entry(Bytes bytes, std::size_t& at) {
    const Bytes entry = part(bytes, at, entry_bytes);
    if (long_at(entry, 0) != entry_mark) {
        reject("its directory has an invalid entry");
    }
    const std::size_t name_bytes = short_at(entry, 28), extra_bytes = short_at(entry, 30);
    ZipMember member{.name = text(part(bytes, at + entry_bytes, name_bytes)),
                     .flags = short_at(entry, 8),
                     .method = short_at(entry, 10),
                     .checksum = long_at(entry, 16),
                     .packed_bytes = long_at(entry, 20),
                     .bytes = long_at(entry, 24),
                     .header = long_at(entry, 42)};
    read_zip64(part(bytes, at + entry_bytes + name_bytes, extra_bytes),
               {&member.bytes, &member.packed_bytes, &member.header});
    at += entry_bytes + name_bytes + extra_bytes + short_at(entry, 32);
    return member;
}

std::vector<std::uint8_t> bytes_at(const FileStream& file, std::uint64_t position, std::size_t size) {
    std::vector<std::uint8_t> bytes(size);
    file.read_at(position, bytes);
    return bytes;
}

/// Compare a member with the header before its data.
/// @return the position of the data
std::uint64_t verified_data(const FileStream& file, const ZipMember& member) {
    const auto start = bytes_at(file, member.header, header_bytes + member.name.size());
    if (long_at(start, 0) != header_mark || short_at(start, 26) != member.name.size() ||
        text(part(start, header_bytes, member.name.size())) != member.name) {
        reject("its directory lists '" + member.name + "', but the header at that position differs");
    }
    const std::uint16_t flags = short_at(start, 6);
    if (short_at(start, 8) != member.method) {
        reject("two compressions of '" + member.name + "'");
    }
    const std::uint64_t data = member.header + start.size() + short_at(start, 28);
    if ((flags & sizes_follow_data) != 0) {
        return data;
    }
    std::uint64_t packed = long_at(start, 18), bytes = long_at(start, 22);
    if (packed == in_zip64 || bytes == in_zip64) {
        read_zip64(bytes_at(file, member.header + start.size(), short_at(start, 28)), {&bytes, &packed});
    }
    if (long_at(start, 14) != member.checksum || packed != member.packed_bytes || bytes != member.bytes) {
        reject("two checksums or sizes of '" + member.name + "'");
    }
    return data;
}

} // namespace

std::vector<ZipMember> parse_zip_directory(Bytes tail, std::uint64_t tail_begin) {
    const Directory directory = find_directory(tail, tail_begin);
    if (directory.begin < tail_begin) {
        reject("the position of its directory is wrong");
    }
    const Bytes entries = part(tail, static_cast<std::size_t>(directory.begin - tail_begin),
                               static_cast<std::size_t>(directory.end - directory.begin));
    std::vector<ZipMember> members;
    std::size_t at = 0;
    while (at < entries.size()) {
        members.push_back(read_entry(entries, at));
    }
    if (at != entries.size() || members.size() != directory.members) {
        reject("its directory and its end record differ in the count of entries");
    }
    std::stable_sort(members.begin(), members.end(),
                     [](const ZipMember& a, const ZipMember& b) { return a.header < b.header; });
    return members;
}

std::vector<ZipMember> verified_zip_directory(const FileStream& file) {
    const std::uint64_t size = file.size();
    // In most files the first piece contains the whole directory.
    std::uint64_t tail_bytes =
        std::min<std::uint64_t>(size, end64_bytes + locator_bytes + end_bytes + longest_comment);
    auto tail = bytes_at(file, size - tail_bytes, tail_bytes);
    const Directory directory = find_directory(tail, size - tail_bytes);
    if (directory.begin < size - tail_bytes) {
        tail_bytes = size - directory.begin;
        tail = bytes_at(file, directory.begin, tail_bytes);
    }
    std::vector<ZipMember> members = parse_zip_directory(tail, size - tail_bytes);
    for (ZipMember& member : members) {
        member.data = verified_data(file, member);
    }
    return members;
}

} // namespace spng
