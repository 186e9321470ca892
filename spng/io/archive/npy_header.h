#pragma once
// The header of a .npy array (NumPy's format, versions 1.0 to 3.0; numpy.lib.format documents it).

#include "spng/io/archive/byte_source.h"

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spng {

/// No array may unpack to more: 35 ProtoDUNE-HD anodes of 6000 ticks in float64. A damaged or hostile file
/// that claims more is rejected before anything is allocated.
constexpr std::uint64_t largest_array_bytes = std::uint64_t{4} << 30;

struct NpyHeader {
    c10::ScalarType type = c10::ScalarType::Undefined; ///< as stored; bool is read as uint8
    bool swapped = false;                              ///< bytes are in the other order than this machine's
    bool fortran_order = false;                        ///< the first axis varies fastest
    std::vector<std::int64_t> shape;

    std::size_t item_bytes() const;
    /// Bytes of all items; at most largest_array_bytes for a header that was read.
    std::uint64_t data_bytes() const;
};

/// Read magic, version and dictionary; the source is then at the first item.
/// Types: bool, integers of 1 to 8 bytes, floats of 2, 4 and 8 bytes, in both byte orders.
/// Throws Error(Input) when it is no .npy, another type (objects are never unpickled), or its size is absurd.
NpyHeader read_npy_header(ByteSource& source);

/// Everything before the first item, as NumPy writes it: version 1.0, C order, padded to 64 bytes.
/// @param type  bool, an integer or a float that NumPy knows. Throws Error(Internal) for another.
std::string npy_header_bytes(c10::ScalarType type, const std::vector<std::int64_t>& shape);

/// "2560 x 6000", for messages.
std::string shape_text(const std::vector<std::int64_t>& shape);

} // namespace spng
