// SPDX-License-Identifier: Apache-2.0
#pragma once
// Archives and compressed files in memory, by libarchive.

#include "tests/fuzz/driver/random.h"

#include <string>
#include <vector>

namespace spng::fuzz {

struct Member {
    std::string name;
    std::string content;
};

/// The sizes of the members of a streamed zip follow their data.
enum class Container { zip, stored_zip, streamed_zip, tar, tar_gz, tar_bz2 };
enum class Compression { none, gzip, bzip2, xz, zstd };

/// Return the members of an archive of any kind; empty for other bytes.
std::vector<Member> unpack(const std::string& bytes);

/// Return an archive with correct checksums.
std::string pack(const std::vector<Member>& members, Container container);

std::string compress(const std::string& bytes, Compression compression);

/// Return the content of a compressed or plain file; empty for a damaged one.
std::string decompress(const std::string& bytes);

/// Choose a container; seldom the slow bzip2.
Container any_container(Random& random);
Compression any_compression(Random& random);

} // namespace spng::fuzz
