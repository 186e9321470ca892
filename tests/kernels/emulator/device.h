// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parts of CUDA that the kernels use, for the host compiler. Include it before any .cu file and after all
// other headers, since threadIdx and similar names are macros.

#include "tests/kernels/emulator/shared_memory.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <type_traits>

#define SPNG_KERNEL_EMULATION 1

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__
#define threadIdx (::spng::emulation::running->thread().index)
#define blockIdx (::spng::emulation::running->block_index())
#define blockDim (::spng::emulation::running->size())
#define gridDim (::spng::emulation::running->grid())

inline void __syncthreads() {
    spng::emulation::running->meet_block();
}
inline void __syncwarp() {
    spng::emulation::running->meet_warp("__syncwarp", 0xffffffffu, 0, true);
}

namespace spng::emulation {

template <class T>
std::uint64_t bits_of(T value) {
    static_assert(sizeof(T) <= sizeof(std::uint64_t));
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value);
    return bits;
}

/// Return the value of lane `source` of the own warp.
template <class T>
T value_of_lane(const char* operation, unsigned mask, T value, unsigned source) {
    const std::uint64_t bits = running->meet_warp(operation, mask, bits_of(value), false)[source % lanes];
    T result;
    std::memcpy(&result, &bits, sizeof result);
    return result;
}

} // namespace spng::emulation

template <class T>
T __shfl_xor_sync(unsigned mask, T value, unsigned distance) {
    return spng::emulation::value_of_lane("__shfl_xor_sync", mask, value,
                                          (spng::emulation::running->thread().id ^ distance));
}
template <class T>
T __shfl_sync(unsigned mask, T value, unsigned source) {
    return spng::emulation::value_of_lane("__shfl_sync", mask, value, source);
}
inline unsigned __reduce_add_sync(unsigned mask, unsigned value) {
    const std::uint64_t* values =
        spng::emulation::running->meet_warp("__reduce_add_sync", mask, value, false);
    return static_cast<unsigned>(std::accumulate(values, values + spng::emulation::lanes, std::uint64_t{0}));
}
inline int __reduce_min_sync(unsigned mask, int value) {
    const auto bits = spng::emulation::bits_of(static_cast<long long>(value));
    const std::uint64_t* values = spng::emulation::running->meet_warp("__reduce_min_sync", mask, bits, false);
    return static_cast<int>(*std::min_element(
        values, values + spng::emulation::lanes, [](std::uint64_t left, std::uint64_t right) {
            return static_cast<std::int64_t>(left) < static_cast<std::int64_t>(right);
        }));
}
inline unsigned __ballot_sync(unsigned mask, bool vote) {
    const std::uint64_t* votes = spng::emulation::running->meet_warp("__ballot_sync", mask, vote, false);
    unsigned ballot = 0;
    for (unsigned lane = 0; lane < spng::emulation::lanes; ++lane) {
        ballot |= static_cast<unsigned>(votes[lane] != 0) << lane;
    }
    return ballot;
}

inline int __popcll(unsigned long long word) {
    return std::popcount(word);
}
inline int __clzll(long long word) {
    return std::countl_zero(static_cast<unsigned long long>(word));
}
/// Return one more than the position of the lowest set bit; 0 if there is none.
inline int __ffsll(long long word) {
    return word == 0 ? 0 : std::countr_zero(static_cast<unsigned long long>(word)) + 1;
}
inline unsigned __brev(unsigned word) {
    unsigned reversed = 0;
    for (int bit = 0; bit < 32; ++bit) {
        reversed |= (word >> bit & 1u) << (31 - bit);
    }
    return reversed;
}
inline unsigned long long __brevll(unsigned long long word) {
    return static_cast<unsigned long long>(__brev(static_cast<unsigned>(word))) << 32 |
           __brev(static_cast<unsigned>(word >> 32));
}

inline int __float_as_int(float value) {
    return std::bit_cast<int>(value);
}
inline float __int_as_float(int bits) {
    return std::bit_cast<float>(bits);
}
inline unsigned __float_as_uint(float value) {
    return std::bit_cast<unsigned>(value);
}
inline float __uint_as_float(unsigned bits) {
    return std::bit_cast<float>(bits);
}
inline long long __double_as_longlong(double value) {
    return std::bit_cast<long long>(value);
}
inline double __longlong_as_double(long long bits) {
    return std::bit_cast<double>(bits);
}
