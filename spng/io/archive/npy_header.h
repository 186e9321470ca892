// SPDX-License-Identifier: Apache-2.0
#pragma once
// The header of a .npy array: NumPy's format, versions 1.0 to 3.0, documented in numpy.lib.format.

#include "spng/io/archive/byte_source.h"

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spng {

/// Maximum bytes of an unpacked array: 35 ProtoDUNE-HD anodes of 6000 ticks in float64. A damaged or hostile
/// file that claims more is rejected before anything is allocated.
constexpr std::uint64_t largest_array_bytes = std::uint64_t{4} << 30;

struct NpyHeader {
    c10::ScalarType type = c10::ScalarType::Undefined; ///< as stored; bool is read as uint8
    bool swapped = false;                              ///< byte order differs from this machine's
    bool fortran_order = false;                        ///< the first axis varies fastest
    std::vector<std::int64_t> shape;

    std::size_t item_bytes() const;
    /// Return the bytes of all items; at most largest_array_bytes for a header from read_npy_header().
    std::uint64_t data_bytes() const;
};

/// Read magic, version and dictionary, up to the first item.
/// Types: bool, integers of 1 to 8 bytes, floats of 2, 4 and 8 bytes, in both byte orders.
/// @throws Error(Input) if the source is not a .npy, has another type (objects are never unpickled), or claims
/// more than largest_array_bytes
NpyHeader read_npy_header(ByteSource& source);

/// Return the bytes before the first item as NumPy writes them: version 1.0, C order, padded to 64 bytes.
/// @param type  bool, an integer or a float that NumPy has
/// @throws Error(Internal) for another type
std::string npy_header_bytes(c10::ScalarType type, const std::vector<std::int64_t>& shape);

/// Return "2560 x 6000", for messages.
std::string shape_text(const std::vector<std::int64_t>& shape);

} // namespace spng
