// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spng/io/archive/byte_source.h"
#include "spng/io/archive/npy_header.h"

#include <ATen/core/Tensor.h>

#include <functional>
#include <mutex>
#include <vector>

namespace spng {

/// Makes uninitialised tensors on the host.
using HostAllocator = std::function<at::Tensor(at::IntArrayRef sizes, at::ScalarType type)>;

/// Return a tensor in ordinary memory.
at::Tensor ordinary_tensor(at::IntArrayRef sizes, at::ScalarType type);

/// Reads .npy arrays. Reuses one buffer for arrays that must be turned from Fortran to C order (30 to 60 MB
/// per event of the Wire-Cell Toolkit). Not thread-safe.
class NpyReader {
public:
    /// Return the array as a CPU tensor of the stored shape and type, C contiguous, in this machine's byte
    /// order. Allocates the member at once if its size is plausible for the file; otherwise at most twice the data read so
    /// far (initially 64 MB), and never more than the header claims.
    /// @param allocate  makes the memory of the result
    /// @throws Error(Input) if the source is no such array (see read_npy_header), ends too early, or
    /// continues after the array
    at::Tensor read(ByteSource& source, const HostAllocator& allocate = ordinary_tensor);

private:
    at::Tensor m_buffer; ///< bytes
};

/// Readers for tasks on several threads.
class NpyReaders {
public:
    /// As NpyReader::read(), with a reader that no other thread uses.
    at::Tensor read(ByteSource& source, const HostAllocator& allocate);

private:
    std::mutex m_mutex;
    std::vector<NpyReader> m_spare;
};

} // namespace spng
