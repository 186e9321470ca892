// SPDX-License-Identifier: Apache-2.0
// Charge inside the ROIs (spng/nodes/roi/rebaseline.h). One block per row. The mask is packed first, so that
// any tick of a run finds its ends by counting zeros in a word or two.

#include "spng/kernels/bit_words.cuh"
#include "spng/kernels/block_reduction.cuh"

namespace spng::kernels {

/// Return the packed mask of one row: packed here in shared memory or, if it is too long for that, packed
/// before.
SPNG_DEVICE RowView<Word> packed_row(const bool* mask, const Word* packed, Index row, Index slices,
                                     const SharedArray<Word>& room) {
    if (packed != nullptr) {
        return RowView<Word>(packed + row * words_for(slices));
    }
    const bool* inside = mask + row * slices;
    pack_row(
        slices, [=](Index slice) { return inside[slice]; },
        [&](Index word, Word flags) { room[word] = flags; });
    return RowView<Word>(room);
}

SPNG_DEVICE bool is_set(const RowView<Word>& words, Index bit) {
    return (words[bit / word_bits] >> (bit % word_bits) & 1) != 0;
}

/// Iterates over the slices of a thread's ticks: tick threadIdx.x and every block_threads-th after it.
/// Divides once, not for each tick; rows have less than 2^31 ticks.
class SliceOfTicks {
public:
    SPNG_DEVICE explicit SliceOfTicks(unsigned factor)
        : m_factor(factor), m_step(block_threads / factor), m_step_rest(block_threads % factor),
          m_slice(threadIdx.x / factor), m_rest(threadIdx.x % factor) {}

    SPNG_DEVICE unsigned slice() const { return m_slice; }
    SPNG_DEVICE void next() {
        m_slice += m_step;
        m_rest += m_step_rest;
        if (m_rest >= m_factor) {
            m_rest -= m_factor;
            ++m_slice;
        }
    }

private:
    unsigned m_factor, m_step, m_step_rest;
    unsigned m_slice, m_rest; ///< of the current tick
};

/// Return a + b c, rounded once, as the CPU code does on processors since 2013.
SPNG_DEVICE float fused(float a, float b, float c) {
    return fmaf(b, c, a);
}
SPNG_DEVICE double fused(double a, double b, double c) {
    return fma(b, c, a);
}

template <class Real>
SPNG_DEVICE void apply_regions_linear(const Real* signal, const bool* mask, const Word* packed, Index rows,
                                      Index row_stride, Index ticks, Index slices, Index factor,
                                      Real* result) {
    SharedMemory memory;
    const SharedArray<Word> room = memory.take<Word>(packed == nullptr ? words_for(slices) : 0);
    const SliceOfTicks first_slice(static_cast<unsigned>(factor));
    for (Index row = blockIdx.x; row < rows; row += gridDim.x) {
        const RowView<Word> inside = packed_row(mask, packed, row, slices, room);
        __syncthreads();
        const Real* in = signal + row * row_stride;
        Real* out = result + row * ticks;
        SliceOfTicks present = first_slice;
        for (Index tick = threadIdx.x; tick < ticks; tick += block_threads, present.next()) {
            const Index slice = present.slice();
            Real value = 0;
            if (is_set(inside, slice)) {
                const Index first = find_bit_back(inside, 0, slice, false) * factor;
                const Index past = find_bit(inside, slice, slices, false) * factor;
                const Index last = (past < ticks ? past : ticks) - 1;
                if (first == last) {
                    value = in[tick];
                } else if (tick < last) {
                    const Real start = in[first];
                    const Real slope = (in[last] - start) / static_cast<Real>(last - first);
                    value = in[tick] - fused(start, slope, static_cast<Real>(tick - first));
                }
            }
            out[tick] = value;
        }
        __syncthreads();
    }
}

template <class Real>
SPNG_DEVICE void apply_regions_restored(const Real* signal, const bool* mask, const Word* packed, Index rows,
                                        Index row_stride, Index ticks, Index slices, Index factor,
                                        Real* result) {
    SharedMemory memory;
    BlockReduction reduce(memory);
    const SharedArray<Word> room = memory.take<Word>(packed == nullptr ? words_for(slices) : 0);
    const SliceOfTicks first_slice(static_cast<unsigned>(factor));
    for (Index row = blockIdx.x; row < rows; row += gridDim.x) {
        const RowView<Word> inside = packed_row(mask, packed, row, slices, room);
        __syncthreads();
        const Real* in = signal + row * row_stride;
        RowSum<Real> total[1];
        unsigned outside[1] = {0};
        SliceOfTicks present = first_slice;
        for (Index tick = threadIdx.x; tick < ticks; tick += block_threads, present.next()) {
            if (!is_set(inside, present.slice())) {
                total[0].add(in[tick]);
                ++outside[0];
            }
        }
        reduce(total, Add{});
        reduce(outside, Add{});
        const Real baseline = outside[0] > 0 ? total[0].over(outside[0]) : Real{0};
        present = first_slice;
        for (Index tick = threadIdx.x; tick < ticks; tick += block_threads, present.next()) {
            result[row * ticks + tick] = is_set(inside, present.slice()) ? in[tick] - baseline : Real{0};
        }
        __syncthreads();
    }
}

#define SPNG_APPLY_REGIONS(name, suffix, Real)                                                               \
    SPNG_KERNEL name##_##suffix(const Real* __restrict__ signal, const bool* __restrict__ mask,              \
                                const Word* __restrict__ packed, Index rows, Index row_stride, Index ticks,  \
                                Index slices, Index factor, Real* __restrict__ result) {                     \
        name(signal, mask, packed, rows, row_stride, ticks, slices, factor, result);                         \
    }

SPNG_APPLY_REGIONS(apply_regions_linear, float32, float)
SPNG_APPLY_REGIONS(apply_regions_linear, float64, double)
SPNG_APPLY_REGIONS(apply_regions_restored, float32, float)
SPNG_APPLY_REGIONS(apply_regions_restored, float64, double)

} // namespace spng::kernels
