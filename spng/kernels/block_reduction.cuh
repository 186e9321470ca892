// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reductions over the threads of a block or of a warp that share a row. The order depends only on the count
// of threads, so that results repeat to the byte.

#include "spng/kernels/row_sum.cuh"

namespace spng::kernels {

// Every reduced value passes through shared memory as one word.
SPNG_DEVICE Word to_word(unsigned value) {
    return value;
}
SPNG_DEVICE Word to_word(int value) {
    return static_cast<Word>(static_cast<Index>(value));
}
SPNG_DEVICE Word to_word(Index value) {
    return static_cast<Word>(value);
}
SPNG_DEVICE Word to_word(const RowSum<float>& value) {
    return static_cast<Word>(__float_as_uint(value.high)) << 32 | __float_as_uint(value.low);
}
SPNG_DEVICE Word to_word(const RowSum<double>& value) {
    return static_cast<Word>(__double_as_longlong(value.total));
}
SPNG_DEVICE void from_word(Word word, unsigned& value) {
    value = static_cast<unsigned>(word);
}
SPNG_DEVICE void from_word(Word word, int& value) {
    value = static_cast<int>(static_cast<Index>(word));
}
SPNG_DEVICE void from_word(Word word, Index& value) {
    value = static_cast<Index>(word);
}
SPNG_DEVICE void from_word(Word word, RowSum<float>& value) {
    value = {__uint_as_float(static_cast<unsigned>(word >> 32)),
             __uint_as_float(static_cast<unsigned>(word))};
}
SPNG_DEVICE void from_word(Word word, RowSum<double>& value) {
    value = {__longlong_as_double(static_cast<Index>(word))};
}

template <class T>
SPNG_DEVICE T from_lane(T value, unsigned distance) {
    return __shfl_xor_sync(all_lanes, value, distance);
}
SPNG_DEVICE RowSum<float> from_lane(const RowSum<float>& value, unsigned distance) {
    return {__shfl_xor_sync(all_lanes, value.high, distance),
            __shfl_xor_sync(all_lanes, value.low, distance)};
}
SPNG_DEVICE RowSum<double> from_lane(const RowSum<double>& value, unsigned distance) {
    return {__shfl_xor_sync(all_lanes, value.total, distance)};
}

struct Add {
    SPNG_DEVICE unsigned operator()(unsigned left, unsigned right) const { return left + right; }
    template <class Real>
    SPNG_DEVICE RowSum<Real> operator()(const RowSum<Real>& left, const RowSum<Real>& right) const {
        return RowSum<Real>::combined(left, right);
    }
};
struct Smaller {
    template <class T>
    SPNG_DEVICE T operator()(T left, T right) const {
        return left < right ? left : right;
    }
};

/// Combine the values of a warp's lanes; every lane gets the result.
template <class T, class Combine>
SPNG_DEVICE T over_warp(T value, Combine combine) {
    for (unsigned distance = warp_threads / 2; distance > 0; distance /= 2) {
        value = combine(value, from_lane(value, distance));
    }
    return value;
}

#if defined(SPNG_KERNEL_EMULATION) || __CUDA_ARCH__ >= 800
// One instruction instead of five steps.
SPNG_DEVICE unsigned over_warp(unsigned value, Add) {
    return __reduce_add_sync(all_lanes, value);
}
SPNG_DEVICE int over_warp(int value, Smaller) {
    return __reduce_min_sync(all_lanes, value);
}
#endif

/// Reduction over a block that shares a row. Each reduction has one barrier: partial results alternate
/// between two buffers, so that a warp may write the next ones while another still reads these.
class BlockReduction {
public:
    static constexpr unsigned threads = block_threads; ///< threads that share a row

    /// Construct it in all threads of the block, from the same shared memory.
    SPNG_DEVICE explicit BlockReduction(SharedMemory& memory)
        : m_partial(memory.take<Word>(reduction_words)) {}

    static SPNG_DEVICE unsigned thread() { return threadIdx.x; }
    static SPNG_DEVICE Index first_row() { return blockIdx.x; }
    static SPNG_DEVICE Index row_step() { return gridDim.x; }

    /// Take shared memory for this many samples of the row.
    template <class T>
    static SPNG_DEVICE SharedArray<T> room(SharedMemory& memory, Index samples) {
        return memory.take<T>(samples);
    }

    /// Combine each value over all threads of the block; every thread gets the result.
    template <int Count, class T, class Combine>
    SPNG_DEVICE void operator()(T (&values)[Count], Combine combine) {
        static_assert(Count <= int{reduction_values}, "room for the partial results");
        for (int k = 0; k < Count; ++k) {
            values[k] = over_warp(values[k], combine);
        }
        const Index offset = m_second ? reduction_words / 2 : 0;
        m_second = !m_second;
        if (lane_index() == 0) {
            for (int k = 0; k < Count; ++k) {
                m_partial[offset + k * block_warps + warp_index()] = to_word(values[k]);
            }
        }
        __syncthreads();
        for (int k = 0; k < Count; ++k) {
            from_word(m_partial[offset + k * block_warps], values[k]);
            for (unsigned warp = 1; warp < block_warps; ++warp) {
                T other;
                from_word(m_partial[offset + k * block_warps + warp], other);
                values[k] = combine(values[k], other);
            }
        }
    }

private:
    SharedArray<Word> m_partial;
    bool m_second = false;
};

/// Reduction over a warp that has its own row. For short rows, for which a block would spend most time at
/// barriers.
class WarpReduction {
public:
    static constexpr unsigned threads = warp_threads;

    SPNG_DEVICE explicit WarpReduction(SharedMemory& /*memory*/) {}

    static SPNG_DEVICE unsigned thread() { return lane_index(); }
    static SPNG_DEVICE Index first_row() { return first_row_of_warp(); }
    static SPNG_DEVICE Index row_step() { return rows_of_grid(); }

    template <class T>
    static SPNG_DEVICE SharedArray<T> room(SharedMemory& memory, Index samples) {
        return memory.take<T>(block_warps * samples).part(warp_index() * samples, samples);
    }

    template <int Count, class T, class Combine>
    SPNG_DEVICE void operator()(T (&values)[Count], Combine combine) {
        for (int k = 0; k < Count; ++k) {
            values[k] = over_warp(values[k], combine);
        }
    }
};

} // namespace spng::kernels
