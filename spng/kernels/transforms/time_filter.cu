// SPDX-License-Identifier: Apache-2.0
// Time filter and inverse real transform (spng/nodes/filter/time_filter.h). One block per row; the spectrum
// is read once and only the waveform is written.

#include "spng/kernels/transforms/fft.cuh"

namespace spng::kernels {

template <class Real>
struct FilterRows {
    const Complex<Real>* spectrum;
    Index rows, channels, view_stride, row_stride;
    const Complex<Real>* filter;
    Index filter_stride; ///< distance of the filters of two views, 0 for one filter of all
};

/// Arguments of a transform as in waveform_spectrum.cu; `scale` is 1 / N.
template <class Real>
struct InverseRealFft {
    FftTables<Real> tables;
    bool halved;
    const Complex<Real>* turns;
    const int* positions;
    Real scale;
};

/// Read a row, multiply it with the filter, and put it into the order of the transform.
template <class Real>
SPNG_DEVICE void read_filtered(const Complex<Real>* spectrum, const Complex<Real>* filter,
                               const InverseRealFft<Real>& plan, const SharedArray<Complex<Real>>& elements) {
    using Value = Complex<Real>;
    const unsigned length = plan.tables.length;
    // The zero frequency and, if N is even, the last one are real.
    const auto filtered = [&](unsigned k) {
        const Value product = spectrum[k] * filter[k];
        return Value{product.re, k == 0 || (plan.halved && k == length) ? Real{0} : product.im};
    };
    for (unsigned k = threadIdx.x; k <= length / 2; k += block_threads) {
        const int low = plan.positions[k], high = plan.positions[k == 0 ? 0 : length - k];
        if (plan.halved) {
            // 2 (E_k + i O_k) with the transforms E and O of the even and odd samples.
            const Value left = filtered(k), right = conjugate(filtered(length - k));
            const Value even = left + right;
            const Value odd = quarter_turn<inverse>((left - right) * conjugate(plan.turns[k]));
            elements[low] = even + odd;
            if (k > 0 && 2 * k < length) {
                elements[high] = conjugate(even - odd);
            }
        } else {
            const Value value = filtered(k);
            elements[low] = value;
            if (k > 0) {
                elements[high] = conjugate(value);
            }
        }
    }
}

template <class Real>
SPNG_DEVICE void apply_time_filter(const FilterRows<Real>& from, const InverseRealFft<Real>& plan,
                                   Index samples, Real* result) {
    using Value = Complex<Real>;
    const unsigned length = plan.tables.length;
    SharedMemory memory;
    const SharedArray<Value> elements = memory.take<Value>(length);
    const BlockFft<Real, 1> fft(plan.tables, elements);
    for (Index row = blockIdx.x; row < from.rows; row += gridDim.x) {
        const Index view = row / from.channels;
        const Value* spectrum =
            from.spectrum + view * from.view_stride + row % from.channels * from.row_stride;
        const Value* filter = from.filter + view * from.filter_stride;
        Real* out = result + row * samples;
        read_filtered(spectrum, filter, plan, elements);
        const auto waveform = [&](unsigned n, const Value& value) {
            const Value sample = scaled(value, plan.scale);
            if (!plan.halved) {
                if (n < samples) {
                    out[n] = sample.re;
                }
            } else if (samples % 2 == 0) {
                if (2 * static_cast<Index>(n) < samples) {
                    reinterpret_cast<Value*>(out)[n] = sample;
                }
            } else {
                if (2 * static_cast<Index>(n) < samples) {
                    out[2 * n] = sample.re;
                }
                if (2 * static_cast<Index>(n) + 1 < samples) {
                    out[2 * n + 1] = sample.im;
                }
            }
        };
        auto stage = fft.innermost();
        while (true) {
            __syncthreads();
            fft.template apply<inverse>(
                stage, [&](unsigned element) { return fft.get(element); },
                [&](unsigned element, const Value& value) {
                    if (stage.is_outermost()) {
                        waveform(element, value);
                    } else {
                        fft.set(element, value);
                    }
                });
            if (stage.is_outermost()) {
                break;
            }
            stage = fft.outside(stage);
        }
        __syncthreads(); // the next row overwrites the elements
    }
}

#define SPNG_APPLY_TIME_FILTER(KERNEL, name, Real)                                                           \
    KERNEL name(const Complex<Real>* __restrict__ spectrum, Index rows, Index channels, Index view_stride,   \
                Index row_stride, const Complex<Real>* __restrict__ filter, Index filter_stride,             \
                Index length, int halved, Index radices, const Complex<Real>* __restrict__ twiddles,         \
                const Complex<Real>* __restrict__ turns, const int* __restrict__ positions, Real scale,      \
                Real* __restrict__ result, Index samples) {                                                  \
        apply_time_filter<Real>(                                                                             \
            {spectrum, rows, channels, view_stride, row_stride, filter, filter_stride},                      \
            {{static_cast<unsigned>(length), radices, twiddles}, halved != 0, turns, positions, scale},      \
            samples, result);                                                                                \
    }

SPNG_APPLY_TIME_FILTER(SPNG_FFT_KERNEL(4), apply_time_filter_float32, float)
SPNG_APPLY_TIME_FILTER(SPNG_FFT_KERNEL(2), apply_time_filter_float64, double)

} // namespace spng::kernels
