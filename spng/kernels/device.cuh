#pragma once
// What all kernels share. The sources are plain CUDA C++ without any header of the toolkit or of the standard
// library, so that nvcc and NVRTC compile the same text, and the host's compiler too: the tests define
// SPNG_KERNEL_EMULATION and bring their own threads, warp operations and shared memory
// (tests/kernels/emulator).
//
// Contractions are off when the sources are compiled (-fmad=false): what is computed is what is written, so
// that a device gives the bits that the emulation gives.

#include "spng/kernels/sizes.h"

#define SPNG_DEVICE __device__ __forceinline__

namespace spng::kernels {

using Index = long long;         ///< of a sample, a row or a byte; rows times ticks may exceed 2^31
using Word = unsigned long long; ///< 64 ticks of a packed row

constexpr unsigned all_lanes = 0xffffffffu;
constexpr int word_bits = 64;

/// Four blocks to a multiprocessor leave each thread 64 registers; left to itself the compiler spills some to
/// have eight.
/// Results are tensors of their own, so pointers are __restrict__ where loads would wait for stores before
/// them.
#define SPNG_KERNEL extern "C" __global__ void __launch_bounds__(::spng::kernels::block_threads, 4)

SPNG_DEVICE unsigned lane_number() {
    return threadIdx.x % warp_threads;
}
SPNG_DEVICE unsigned warp_number() {
    return threadIdx.x / warp_threads;
}
/// Where each warp has a row of its own: the first one, and the distance to its next.
SPNG_DEVICE Index first_row_of_warp() {
    return static_cast<Index>(blockIdx.x) * block_warps + warp_number();
}
SPNG_DEVICE Index rows_of_grid() {
    return static_cast<Index>(gridDim.x) * block_warps;
}

#ifndef SPNG_KERNEL_EMULATION

/// A part of the block's shared memory. The emulation has a class of this name that checks every access.
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

/// Hands out the block's dynamic shared memory part after part, in units of 8 bytes.
class SharedMemory {
public:
    template <class T>
    SPNG_DEVICE SharedArray<T> take(Index count) {
        extern __shared__ Word spng_shared_memory[];
        T* part = reinterpret_cast<T*>(spng_shared_memory + m_used);
        m_used += (count * sizeof(T) + sizeof(Word) - 1) / sizeof(Word);
        return SharedArray<T>(part);
    }

private:
    Index m_used = 0;
};

/// A row that is read often: its copy in shared memory, or itself where it is too long for that.
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
