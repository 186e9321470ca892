// SPDX-License-Identifier: Apache-2.0
#pragma once
// Samples of which most are 0: the content of a frame behind ROIs, on the host. Frame files store it in the same
// form (docs/sparse-frames.md).

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace spng {

struct SparseSamples {
    std::int64_t rows = 0;
    std::int64_t ticks = 0; ///< of each row
    /// (run, 3) int32: row, begin tick, end tick (not included). Ascending by row and tick; runs are not empty and
    /// do not overlap. All samples outside of the runs are 0.
    at::Tensor runs;
    at::Tensor values; ///< (sample) float32 or int16: the samples of the runs, one after the other
};

} // namespace spng
