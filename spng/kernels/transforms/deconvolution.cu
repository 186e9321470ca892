// SPDX-License-Identifier: Apache-2.0
// Deconvolution along channels (spng/nodes/decon/deconvolution.h). One block per view and tile of adjacent
// frequencies: all channels of the tile are read, transformed, multiplied, transformed back and written.

#include "spng/kernels/transforms/fft.cuh"

namespace spng::kernels {

/// Spectra (view, channel, frequency) in memory.
template <class Value>
struct Spectra {
    Value* data;
    Index view_stride;
    unsigned row_stride;

    SPNG_DEVICE Value* row(Value* first, unsigned index) const {
        return first + static_cast<Word>(index) * row_stride;
    }
};

template <class Real>
SPNG_DEVICE void deconvolve(const Spectra<const Complex<Real>>& from, Index views, unsigned channels,
                            Index frequencies, const Spectra<const Complex<Real>>& kernel,
                            unsigned kernel_rows, const FftTables<Real>& tables, const unsigned* frequency_at,
                            Real scale, const Spectra<Complex<Real>>& to) {
    using Value = Complex<Real>;
    constexpr unsigned columns = tile_bytes / sizeof(Value);
    SharedMemory memory;
    const BlockFft<Real, columns> fft(tables,
                                      memory.take<Value>(static_cast<Index>(tables.length) * columns));
    const Index tiles = (frequencies + columns - 1) / columns;
    for (Index block = blockIdx.x; block < views * tiles; block += gridDim.x) {
        // Views may share a kernel, so blocks of the same tile are adjacent.
        const Index view = block % views, wanted = block / views * columns + fft.column();
        // Columns of the last tile beyond the last frequency repeat it and store nothing.
        const Index frequency = wanted < frequencies ? wanted : frequencies - 1;
        const unsigned stored = wanted < frequencies ? channels : 0;
        const Value* spectrum = from.data + view * from.view_stride + frequency;
        const Value* factors = kernel.data + view * kernel.view_stride + frequency;
        Value* result = to.data + view * to.view_stride + frequency;
        auto stage = fft.outermost();
        while (!fft.is_innermost(stage)) {
            fft.template apply<forward>(
                stage,
                [&](unsigned element) {
                    if (!stage.is_outermost()) {
                        return fft.get(element);
                    }
                    return element < channels ? *from.row(spectrum, element) : Value{0, 0};
                },
                [&](unsigned element, const Value& value) { fft.set(element, value); });
            __syncthreads();
            stage = fft.inside(stage);
        }
        fft.convolve(stage, [&](unsigned element) {
            const unsigned along_channels = frequency_at[element];
            return scaled(*kernel.row(factors, along_channels < kernel_rows ? along_channels
                                                                            : tables.length - along_channels),
                          scale);
        });
        while (!stage.is_outermost()) {
            __syncthreads();
            stage = fft.outside(stage);
            fft.template apply<inverse>(
                stage, [&](unsigned element) { return fft.get(element); },
                [&](unsigned element, const Value& value) {
                    if (!stage.is_outermost()) {
                        fft.set(element, value);
                    } else if (element < stored) {
                        *to.row(result, element) = value;
                    }
                });
        }
        __syncthreads(); // the next tile overwrites the elements
    }
}

#define SPNG_DECONVOLVE(KERNEL, name, Real)                                                                  \
    KERNEL name(const Complex<Real>* __restrict__ spectrum, Index view_stride, Index row_stride,             \
                Index views, Index channels, Index frequencies, const Complex<Real>* __restrict__ kernel,    \
                Index kernel_view_stride, Index kernel_row_stride, Index kernel_rows, Index length,          \
                Index radices, const Complex<Real>* __restrict__ twiddles,                                   \
                const unsigned* __restrict__ frequency_at, Real scale, Complex<Real>* __restrict__ result,   \
                Index result_view_stride, Index result_row_stride) {                                         \
        deconvolve<Real>({spectrum, view_stride, static_cast<unsigned>(row_stride)}, views,                  \
                         static_cast<unsigned>(channels), frequencies,                                       \
                         {kernel, kernel_view_stride, static_cast<unsigned>(kernel_row_stride)},             \
                         static_cast<unsigned>(kernel_rows),                                                 \
                         {static_cast<unsigned>(length), radices, twiddles}, frequency_at, scale,            \
                         {result, result_view_stride, static_cast<unsigned>(result_row_stride)});            \
    }

SPNG_DECONVOLVE(SPNG_FFT_KERNEL(3), deconvolve_float32, float)
SPNG_DECONVOLVE(SPNG_FFT_KERNEL(2), deconvolve_float64, double)

} // namespace spng::kernels
