#pragma once

#include "spng/io/archive/byte_source.h"
#include "spng/io/archive/npy_header.h"

#include <ATen/core/Tensor.h>

namespace spng {

/// Reads .npy arrays. Keeps one buffer between arrays for those that must be turned from Fortran to C order
/// (an event of the field's toolkit is 30 to 60 MB of it), so one reader belongs to one thread.
class NpyReader {
public:
    /// The array as a CPU tensor of the stored shape and type, C contiguous, in this machine's byte order.
    /// Never holds more memory than the data that arrived so far, twice (64 MB at first), nor more than the
    /// header claims. Throws Error(Input) when the source is no such array (see read_npy_header), ends too
    /// early, or goes on after it.
    at::Tensor read(ByteSource& source);

private:
    at::Tensor m_buffer; ///< bytes
};

} // namespace spng
