// SPDX-License-Identifier: Apache-2.0
// All kernels in one translation unit: one compilation and one module per kind of device.

#include "spng/kernels/bit_ticks.cu"
#include "spng/kernels/coincidence.cu"
#include "spng/kernels/features.cu"
#include "spng/kernels/frames/frame_rows.cu"
#include "spng/kernels/frames/row_selection.cu"
#include "spng/kernels/noise.cu"
#include "spng/kernels/rebaseline.cu"
#include "spng/kernels/region_growth.cu"
#include "spng/kernels/running_sum.cu"
#include "spng/kernels/transforms/deconvolution.cu"
#include "spng/kernels/transforms/interpolated_rows.cu"
#include "spng/kernels/transforms/time_filter.cu"
#include "spng/kernels/transforms/waveform_spectrum.cu"
