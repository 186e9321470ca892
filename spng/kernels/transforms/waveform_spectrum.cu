// SPDX-License-Identifier: Apache-2.0
// Real transform of waveforms without their baseline (spng/nodes/decon/waveform_spectrum.h). One block per
// row; each row is read from memory once and only its spectrum is written.

#include "spng/kernels/selection.cuh"
#include "spng/kernels/transforms/fft.cuh"

namespace spng::kernels {

/// Rows to transform: samples in memory, and the row in shared memory if it fits there.
template <class Sample>
struct WaveformRows {
    const Sample* data;
    Index rows, row_stride, ticks, tick_stride;
    const bool* good; ///< null: all rows are good
    bool staged;
};

/// Length N of the real transform is 2 length if `halved`, else length. `turns` are exp(-2 pi i k / N) for
/// k = 0 .. length / 2; `positions` are those of the frequencies.
template <class Real>
struct RealFft {
    FftTables<Real> tables;
    bool halved;
    const Complex<Real>* turns;
    const int* positions;
};

/// @param elements  transformed
template <class Real>
SPNG_DEVICE void write_half_spectrum(const SharedArray<Complex<Real>>& elements, const RealFft<Real>& plan,
                                     Complex<Real>* out) {
    using Value = Complex<Real>;
    const unsigned length = plan.tables.length;
    if (!plan.halved) {
        for (unsigned k = threadIdx.x; k <= length / 2; k += block_threads) {
            out[k] = elements[plan.positions[k]];
        }
        return;
    }
    // X_k = E_k + exp(-2 pi i k / N) O_k with the transforms E and O of the even and odd samples.
    for (unsigned k = threadIdx.x; k <= length / 2; k += block_threads) {
        const Value low = elements[plan.positions[k]];
        const Value high = conjugate<Real>(elements[plan.positions[k == 0 ? 0 : length - k]]);
        const Value even = scaled(low + high, Real{0.5});
        const Value odd = plan.turns[k] * quarter_turn<forward>(scaled(low - high, Real{0.5}));
        out[k] = even + odd;
        if (2 * k < length) {
            out[length - k] = conjugate(even - odd);
        }
    }
}

template <class Sample, class Real>
SPNG_DEVICE void waveform_spectrum(const WaveformRows<Sample>& from, const RealFft<Real>& plan,
                                   Complex<Real>* result, Index result_stride) {
    using Value = Complex<Real>;
    const unsigned length = plan.tables.length;
    SharedMemory memory;
    BlockReduction reduce(memory);
    const SharedArray<Value> elements = memory.take<Value>(length);
    const SharedArray<Sample> room = memory.take<Sample>(from.staged ? from.ticks : 0);
    const BlockFft<Real, 1> fft(plan.tables, elements);
    for (Index row = blockIdx.x; row < from.rows; row += gridDim.x) {
        Value* out = result + row * result_stride;
        if (from.good != nullptr && !from.good[row]) {
            const unsigned frequencies = plan.halved ? length + 1 : length / 2 + 1;
            for (unsigned k = threadIdx.x; k < frequencies; k += block_threads) {
                out[k] = {0, 0};
            }
            continue;
        }
        const RowView<Sample> samples = staged_row<BlockReduction>(
            from.data + row * from.row_stride, from.ticks, from.tick_stride, from.staged, room);
        const Index ranks[] = {(from.ticks - 1) / 2};
        Sample medians[1];
        // Its barriers also separate the threads that stage samples from those that transform them, and
        // the end of this row from the next one.
        select_samples(samples, from.ticks, ranks, reduce, medians);
        const Real median = static_cast<Real>(medians[0]);
        const auto sample = [&](Index tick) {
            return tick < from.ticks ? static_cast<Real>(samples[tick]) - median : Real{0};
        };
        // Even samples are real parts and odd samples imaginary parts of a transform of half the length.
        const auto waveform = [&](Index n) {
            return plan.halved ? Value{sample(2 * n), sample(2 * n + 1)} : Value{sample(n), 0};
        };
        auto stage = fft.outermost();
        while (true) {
            fft.template apply<forward>(
                stage,
                [&](unsigned element) { return stage.is_outermost() ? waveform(element) : fft.get(element); },
                [&](unsigned element, const Value& value) { fft.set(element, value); });
            __syncthreads();
            if (fft.is_innermost(stage)) {
                break;
            }
            stage = fft.inside(stage);
        }
        write_half_spectrum(elements, plan, out);
    }
}

#define SPNG_WAVEFORM_SPECTRUM(KERNEL, name, Sample, Real)                                                   \
    KERNEL name(const Sample* __restrict__ waveforms, Index rows, Index row_stride, Index ticks,             \
                Index tick_stride, const bool* __restrict__ good, int staged, Index length, int halved,      \
                Index radices, const Complex<Real>* __restrict__ twiddles,                                   \
                const Complex<Real>* __restrict__ turns, const int* __restrict__ positions,                  \
                Complex<Real>* __restrict__ result, Index result_stride) {                                   \
        waveform_spectrum<Sample, Real>(                                                                     \
            {waveforms, rows, row_stride, ticks, tick_stride, good, staged != 0},                            \
            {{static_cast<unsigned>(length), radices, twiddles}, halved != 0, turns, positions}, result,     \
            result_stride);                                                                                  \
    }

SPNG_WAVEFORM_SPECTRUM(SPNG_FFT_KERNEL(4), waveform_spectrum_int16_float32, short, float)
SPNG_WAVEFORM_SPECTRUM(SPNG_FFT_KERNEL(2), waveform_spectrum_int16_float64, short, double)
SPNG_WAVEFORM_SPECTRUM(SPNG_FFT_KERNEL(4), waveform_spectrum_float32, float, float)
SPNG_WAVEFORM_SPECTRUM(SPNG_FFT_KERNEL(2), waveform_spectrum_float64, double, double)

} // namespace spng::kernels
