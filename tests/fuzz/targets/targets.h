// SPDX-License-Identifier: Apache-2.0
#pragma once
// The targets, one source each, and limits that several of them have.

#include "tests/fuzz/target.h"

namespace spng::fuzz {

/// A reader with defects, for the tests of the driver.
Target broken_target();
Target command_line_target();
Target configuration_target();
Target control_target();
Target depositions_target();
Target frames_target();
Target inference_target();
Target jsonnet_target();
Target lists_target();
Target masks_target();
Target noise_target();
Target npy_target();
Target responses_target();
Target wires_target();

/// For archives of arrays: buffers of the reader, of which the first is at most 64 MB, before data arrive, and twice as
/// large afterwards; and some copies of the content.
inline std::int64_t archive_bytes_allowed(const std::string& bytes) {
    return (std::int64_t{160} << 20) + 64 * static_cast<std::int64_t>(bytes.size());
}

/// For JSON: one byte of text, such as the comma of "[[],[],...", makes a value of some 50 bytes in a list that grows by
/// doubling. Compressed files have up to 1000 times as much text. Two formats hold more before a checksum can tell
/// damage: a block of bzip2 up to 46 MB, and the history of zstd up to 128 MB.
inline std::int64_t document_bytes_allowed(const std::string& bytes) {
    const auto size = static_cast<std::int64_t>(bytes.size());
    const bool is_long = bytes.starts_with("\x28\xb5\x2f\xfd") || bytes.starts_with("BZh");
    const bool is_compressed = is_long || bytes.starts_with("\x1f\x8b") ||
                               bytes.starts_with("\xfd"
                                                 "7zXZ");
    return (std::int64_t{is_long ? 160 : 16} << 20) + (is_compressed ? 20000 : 200) * size;
}

/// For small files without structure.
inline std::int64_t text_bytes_allowed(const std::string& bytes) {
    return (std::int64_t{1} << 20) + 100 * static_cast<std::int64_t>(bytes.size());
}

} // namespace spng::fuzz
