// Noise of channels (spng/roi/robust_rms.h): one block for each row, or a warp where rows are short.

#include "spng/kernels/selection.cuh"

namespace spng::kernels {

template <class Real>
SPNG_DEVICE Real root(Real value);
template <>
SPNG_DEVICE float root(float value) {
    return sqrtf(value);
}
template <>
SPNG_DEVICE double root(double value) {
    return sqrt(value);
}

/// The three order statistics share the passes over the row; a last pass sums the squares within the cut.
template <class Reduction, class Real>
SPNG_DEVICE void robust_noise(const Real* waveforms, Index rows, Index row_stride, Index ticks,
                              Index tick_stride, Index low_rank, Index median_rank, Index high_rank, Real cut,
                              Real rms_of_unit_noise, bool staged, Real* low, Real* median, Real* rms) {
    SharedMemory memory;
    Reduction reduce(memory);
    const SharedArray<Real> room = Reduction::template room<Real>(memory, staged ? ticks : 0);
    for (Index row = Reduction::first_row(); row < rows; row += Reduction::row_step()) {
        const RowView<Real> samples =
            staged_row<Reduction>(waveforms + row * row_stride, ticks, tick_stride, staged, room);
        const Index ranks[] = {low_rank, median_rank, high_rank};
        Real levels[3];
        select_samples(samples, ticks, ranks, reduce, levels);
        const Real above = levels[2] - levels[1];
        const Real below = levels[1] - levels[0];
        const Real limit = cut * root((above * above + below * below) / 2);
        RowSum<Real> squares[1];
        unsigned quiet[1] = {0};
        for (Index tick = Reduction::thread(); tick < ticks; tick += Reduction::threads) {
            const Real deviation = samples[tick] - levels[1];
            if (deviation <= limit && -deviation <= limit) {
                squares[0].add(deviation * deviation);
                ++quiet[0];
            }
        }
        reduce(squares, Add{});
        reduce(quiet, Add{});
        if (Reduction::thread() == 0) {
            low[row] = levels[0];
            median[row] = levels[1];
            rms[row] = root(squares[0].over(quiet[0])) / rms_of_unit_noise;
        }
    }
}

/// sqrt(sum (x - mean)^2 / (ticks - 1))
template <class Real>
SPNG_DEVICE void plain_rms(const Real* waveforms, Index rows, Index row_stride, Index ticks,
                           Index tick_stride, int staged, Real* rms) {
    SharedMemory memory;
    BlockReduction reduce(memory);
    const SharedArray<Real> room = memory.take<Real>(staged ? ticks : 0);
    for (Index row = blockIdx.x; row < rows; row += gridDim.x) {
        const RowView<Real> samples =
            staged_row<BlockReduction>(waveforms + row * row_stride, ticks, tick_stride, staged != 0, room);
        RowSum<Real> total[1];
        for (Index tick = threadIdx.x; tick < ticks; tick += block_threads) {
            total[0].add(samples[tick]);
        }
        reduce(total, Add{});
        const Real mean = total[0].over(ticks);
        RowSum<Real> squares[1];
        for (Index tick = threadIdx.x; tick < ticks; tick += block_threads) {
            const Real deviation = samples[tick] - mean;
            squares[0].add(deviation * deviation);
        }
        reduce(squares, Add{});
        if (threadIdx.x == 0) {
            rms[row] = root(squares[0].over(ticks - 1));
        }
    }
}

/// @param is_staged  known when the kernel of short rows is compiled, which are read faster for it
#define SPNG_ROBUST_NOISE(name, Reduction, Real, is_staged)                                                  \
    SPNG_KERNEL name(const Real* waveforms, Index rows, Index row_stride, Index ticks, Index tick_stride,    \
                     Index low_rank, Index median_rank, Index high_rank, Real cut, Real rms_of_unit_noise,   \
                     [[maybe_unused]] int staged, Real* low, Real* median, Real* rms) {                      \
        robust_noise<Reduction>(waveforms, rows, row_stride, ticks, tick_stride, low_rank, median_rank,      \
                                high_rank, cut, rms_of_unit_noise, is_staged, low, median, rms);             \
    }

SPNG_ROBUST_NOISE(robust_noise_float32, BlockReduction, float, staged != 0)
SPNG_ROBUST_NOISE(robust_noise_float64, BlockReduction, double, staged != 0)
SPNG_ROBUST_NOISE(robust_noise_of_short_rows_float32, WarpReduction, float, true)
SPNG_ROBUST_NOISE(robust_noise_of_short_rows_float64, WarpReduction, double, true)

#define SPNG_PLAIN_RMS(name, Real)                                                                           \
    SPNG_KERNEL name(const Real* waveforms, Index rows, Index row_stride, Index ticks, Index tick_stride,    \
                     int staged, Real* rms) {                                                                \
        plain_rms(waveforms, rows, row_stride, ticks, tick_stride, staged, rms);                             \
    }

SPNG_PLAIN_RMS(plain_rms_float32, float)
SPNG_PLAIN_RMS(plain_rms_float64, double)

} // namespace spng::kernels
