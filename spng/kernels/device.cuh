// SPDX-License-Identifier: Apache-2.0
#pragma once
// Common definitions of all kernels. The sources are plain CUDA C++ without any header of CUDA or of the
// standard library, so that nvcc, NVRTC and the host compiler accept the same text. Tests define
// SPNG_KERNEL_EMULATION and provide threads, warp operations and shared memory (tests/kernels/emulator).
//
// The sources are compiled without contractions (-fmad=false), so that a device gives the same bits as the
// emulation.

#include "spng/kernels/sizes.h"

#define SPNG_DEVICE __device__ __forceinline__

namespace spng::kernels {

using Index = long long;         ///< index of a sample, a row or a byte; rows times ticks may exceed 2^31
using Word = unsigned long long; ///< 64 ticks of a packed row

constexpr unsigned all_lanes = 0xffffffffu;
constexpr int word_bits = 64;

/// Four blocks per multiprocessor leave each thread 64 registers. By default the compiler spills registers to
/// fit eight blocks. Pointers are __restrict__ if loads would otherwise wait for earlier stores; results are
/// always separate tensors.
#define SPNG_KERNEL extern "C" __global__ void __launch_bounds__(::spng::kernels::block_threads, 4)

/// Type of a list as a parameter of a kernel. It stays in constant memory: otherwise an index that is not constant
/// would make each thread copy the list.
#define SPNG_LIST(Type, size) const __grid_constant__ ::spng::kernels::List<Type, ::spng::kernels::size>

SPNG_DEVICE unsigned lane_index() {
    return threadIdx.x % warp_threads;
}
SPNG_DEVICE unsigned warp_index() {
    return threadIdx.x / warp_threads;
}
/// For kernels with one row per warp: index of the warp's first row, and the distance to its next.
SPNG_DEVICE Index first_row_of_warp() {
    return static_cast<Index>(blockIdx.x) * block_warps + warp_index();
}
SPNG_DEVICE Index rows_of_grid() {
    return static_cast<Index>(gridDim.x) * block_warps;
}

/// The rows of the channels beside that of a row, in its view. The row itself where there is none.
struct RowsBeside {
    Index before, after;
};
/// @param cyclic  true: the last channel of a view is next to its first
SPNG_DEVICE RowsBeside rows_beside(Index row, Index channels, bool cyclic) {
    const Index channel = row % channels;
    return {channel > 0 ? row - 1
            : cyclic    ? row + channels - 1
                        : row,
            channel < channels - 1 ? row + 1
            : cyclic               ? row - channels + 1
                                   : row};
}

#ifndef SPNG_KERNEL_EMULATION

/// A part of the block's shared memory. The emulation replaces this class by one that checks every access.
template <class T>
class SharedArray {
public:
    __device__ explicit SharedArray(T* data) : m_data(data) {}
    SPNG_DEVICE T& operator[](Index index) const { return m_data[index]; }
    SPNG_DEVICE const T* data() const { return m_data; }
    SPNG_DEVICE SharedArray part(Index first, Index /*count*/) const { return SharedArray(m_data + first); }

private:
    T* m_data;
};

/// Allocates parts of the block's dynamic shared memory, in units of 8 bytes. Pairs of float64 must come first, or
/// after parts of a multiple of 16 bytes.
class SharedMemory {
public:
    template <class T>
    SPNG_DEVICE SharedArray<T> take(Index count) {
        extern __shared__ __align__(16) Word spng_shared_memory[];
        T* part = reinterpret_cast<T*>(spng_shared_memory + m_used);
        m_used += (count * sizeof(T) + sizeof(Word) - 1) / sizeof(Word);
        return SharedArray<T>(part);
    }

private:
    Index m_used = 0;
};

/// A row that is read several times: its copy in shared memory, or the row itself if it is too long for that.
template <class T>
class RowView {
public:
    SPNG_DEVICE explicit RowView(const SharedArray<T>& staged) : m_data(staged.data()) {}
    SPNG_DEVICE explicit RowView(const T* row) : m_data(row) {}
    SPNG_DEVICE T operator[](Index index) const { return m_data[index]; }

private:
    const T* m_data;
};

#endif

} // namespace spng::kernels
