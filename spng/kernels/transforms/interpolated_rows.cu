// SPDX-License-Identifier: Apache-2.0
// The mean of both neighbours in place of single rows (spng/nodes/decon/interpolated_rows.h). One block per row; the
// blocks of other rows end at once.

#include "spng/kernels/transforms/fft.cuh"

namespace spng::kernels {

/// @param stride  elements from one row to the next
/// @param good    (row)
template <class Real>
SPNG_DEVICE void interpolate_rows(Complex<Real>* spectrum, Index rows, Index channels, Index frequencies,
                                  Index stride, const bool* good, int cyclic) {
    for (Index row = blockIdx.x; row < rows; row += gridDim.x) {
        const RowsBeside beside = rows_beside(row, channels, cyclic != 0);
        if (good[row] || !good[beside.before] ||
            !good[beside.after]) { // at an open edge one of these is the row
            continue;
        }
        const Complex<Real>* before = spectrum + beside.before * stride;
        const Complex<Real>* after = spectrum + beside.after * stride;
        for (Index k = threadIdx.x; k < frequencies; k += block_threads) {
            spectrum[row * stride + k] = scaled(before[k] + after[k], Real{0.5});
        }
    }
}

SPNG_KERNEL interpolate_rows_float32(Complex<float>* spectrum, Index rows, Index channels, Index frequencies,
                                     Index stride, const bool* good, int cyclic) {
    interpolate_rows(spectrum, rows, channels, frequencies, stride, good, cyclic);
}
SPNG_KERNEL interpolate_rows_float64(Complex<double>* spectrum, Index rows, Index channels, Index frequencies,
                                     Index stride, const bool* good, int cyclic) {
    interpolate_rows(spectrum, rows, channels, frequencies, stride, good, cyclic);
}

} // namespace spng::kernels
