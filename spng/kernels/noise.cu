// SPDX-License-Identifier: Apache-2.0
// Noise of channels (spng/nodes/roi/robust_rms.h): one block per row, or one warp per row if rows are short.

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

/// Decides whether a sample is within the cut, in float64 as on the CPU: otherwise the RMS of a row with a
/// sample at the limit would depend on the device. Only samples too near to the limit for float32 use
/// float64, so its low speed hardly matters.
template <class Real>
class WithinCut {
public:
    SPNG_DEVICE WithinCut(Real low, Real median, Real high, double cut) : m_median(median) {
        const double above = static_cast<double>(high) - median;
        const double below = static_cast<double>(median) - low;
        m_limit = cut * sqrt(fma(above, above, below * below) / 2);
        m_surely_within = static_cast<Real>(m_limit * (1 - tolerance));
        m_surely_outside = static_cast<Real>(m_limit * (1 + tolerance));
    }

    SPNG_DEVICE bool operator()(Real sample) const {
        const Real deviation = sample - m_median;
        const Real distance = deviation < 0 ? -deviation : deviation;
        if (distance < m_surely_within) {
            return true;
        }
        if (distance > m_surely_outside) {
            return false;
        }
        const double exact = static_cast<double>(sample) - m_median;
        return exact <= m_limit && -exact <= m_limit;
    }

private:
    static constexpr double tolerance = 1e-6; ///< several roundings of float32

    Real m_median, m_surely_within, m_surely_outside;
    double m_limit;
};

/// The three order statistics share the passes over the row. A last pass sums the squares within the cut.
template <class Reduction, class Real>
SPNG_DEVICE void robust_noise(const Real* waveforms, Index rows, Index row_stride, Index ticks,
                              Index tick_stride, Index low_rank, Index median_rank, Index high_rank,
                              double cut, Real rms_of_unit_noise, bool staged, Real* low, Real* median,
                              Real* rms) {
    SharedMemory memory;
    Reduction reduce(memory);
    const SharedArray<Real> room = Reduction::template room<Real>(memory, staged ? ticks : 0);
    for (Index row = Reduction::first_row(); row < rows; row += Reduction::row_step()) {
        const RowView<Real> samples =
            staged_row<Reduction>(waveforms + row * row_stride, ticks, tick_stride, staged, room);
        const Index ranks[] = {low_rank, median_rank, high_rank};
        Real levels[3];
        select_samples(samples, ticks, ranks, reduce, levels);
        const WithinCut<Real> is_quiet(levels[0], levels[1], levels[2], cut);
        RowSum<Real> squares[1];
        unsigned within[1] = {0};
        for (Index tick = Reduction::thread(); tick < ticks; tick += Reduction::threads) {
            const Real sample = samples[tick];
            if (is_quiet(sample)) {
                const Real deviation = sample - levels[1];
                squares[0].add(deviation * deviation);
                ++within[0];
            }
        }
        reduce(squares, Add{});
        reduce(within, Add{});
        if (Reduction::thread() == 0) {
            low[row] = levels[0];
            median[row] = levels[1];
            rms[row] = root(squares[0].over(within[0])) / rms_of_unit_noise;
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

/// A block limits the noise of one view. RMS that do not count are first replaced by 0 in the result, so that they
/// come before all others in the order.
/// @param good, expected  may be null
template <class Real>
SPNG_DEVICE void capped_noise(const Real* low, const Real* median, const Real* rms, const bool* good,
                              const Real* expected, Index views, Index channels, Index least, Real cap,
                              Real* capped_median, Real* capped_rms) {
    SharedMemory memory;
    BlockReduction reduce(memory);
    for (Index view = blockIdx.x; view < views; view += gridDim.x) {
        const Index first = view * channels;
        unsigned counted[1] = {0};
        for (Index channel = threadIdx.x; channel < channels; channel += block_threads) {
            const Index i = first + channel;
            const bool counts = rms[i] > 0 && (good == nullptr || good[i]);
            counted[0] += counts;
            capped_rms[i] = counts ? rms[i] : Real{0};
        }
        reduce(counted, Add{});
        const Index count = counted[0];
        const Index ranks[] = {count == 0 ? 0 : channels - count + (count - 1) / 2};
        Real typical[1];
        select_samples(RowView<Real>(capped_rms + first), channels, ranks, reduce, typical);
        const bool is_few = expected != nullptr && count < least;
        for (Index channel = threadIdx.x; channel < channels; channel += block_threads) {
            const Index i = first + channel;
            const Real value = rms[i];
            const bool is_limited = is_few || count > 0;
            const Real limit = (is_few ? expected[i] : typical[0]) * cap;
            // As fmin(): a NaN gives the other value.
            const Real limited = !is_limited || value <= limit || limit != limit ? value : limit;
            const Real highest = low[i] + limited;
            // As minimum(): a NaN gives NaN.
            capped_median[i] = median[i] < highest || median[i] != median[i] ? median[i] : highest;
            capped_rms[i] = limited;
        }
    }
}

#define SPNG_CAPPED_NOISE(suffix, Real)                                                                      \
    SPNG_KERNEL capped_noise_##suffix(const Real* low, const Real* median, const Real* rms,                  \
                                      const bool* good, const Real* expected, Index views, Index channels,   \
                                      Index least, Real cap, Real* capped_median, Real* capped_rms) {        \
        capped_noise(low, median, rms, good, expected, views, channels, least, cap, capped_median,           \
                     capped_rms);                                                                            \
    }

SPNG_CAPPED_NOISE(float32, float)
SPNG_CAPPED_NOISE(float64, double)

/// @param is_staged  a constant in the kernel of short rows, which makes reading faster
#define SPNG_ROBUST_NOISE(name, Reduction, Real, is_staged)                                                  \
    SPNG_KERNEL name(const Real* waveforms, Index rows, Index row_stride, Index ticks, Index tick_stride,    \
                     Index low_rank, Index median_rank, Index high_rank, double cut, Real rms_of_unit_noise, \
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
