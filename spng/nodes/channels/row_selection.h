// SPDX-License-Identifier: Apache-2.0
#pragma once
// Operator of SPNGFrameToTorchSetFanout: gather rows of a frame, check and clean them in one pass.

#include "spng/nodes/channels/row_flags.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <tuple>

namespace spng {

/// Lowest and highest output value of the digitiser. Samples at either rail are saturated.
struct Rails {
    std::int64_t low = 0;
    std::int64_t high = 0;
};

/// The rows to select, on the device of the frame.
struct RowTable {
    at::Tensor rows; ///< (row) int64: row of the frame, or -1 for none
    /// (row + 1) int64: the bad ticks of row i are ranges offsets[i] to offsets[i + 1] (not included).
    at::Tensor offsets;
    /// (range, 2) int64: begin and end tick (not included), within the readout. The ranges of a row do not touch each
    /// other and are not empty.
    at::Tensor ranges;
};

struct SelectedRows {
    at::Tensor waveforms; ///< (row, tick), type of the frame
    at::Tensor good;      ///< (row) bool: Verdict::good
    at::Tensor flags;     ///< (row) uint8: row_flags.h
};

/// Gather and clean rows.
/// - A row becomes zeros if the frame does not have it, or if one of its samples is not finite or larger than
///   `largest`. One NaN, or one value as large as 3e38, would spread over the whole plane through the transform
///   along channels.
/// - A row whose bad ticks are the whole readout is dead and becomes zeros too. Shorter ranges are replaced by the
///   straight line between the samples at their sides, or by the sample at the only side. int16 is rounded to
///   nearest, halves to even.
/// - Saturated samples are not changed.
///
/// On a device it is one launch that does not wait.
/// @param frame    (row of the frame, tick) int16, float32 or float64, contiguous
/// @param rails    only for int16, rounded to it; empty: do not check for saturated samples
/// @param largest  largest valid magnitude
SelectedRows select_rows(const at::Tensor& frame, const RowTable& table, std::optional<Rails> rails,
                         double largest);

/// The same on the host.
SelectedRows select_rows_on_host(const at::Tensor& frame, const RowTable& table, std::optional<Rails> rails,
                                 double largest);

namespace kernels { // the body on CUDA: spng/kernels/frames/row_selection.cxx. A rail or both may be missing.
std::tuple<at::Tensor, at::Tensor, at::Tensor> select_rows(const at::Tensor& frame, const at::Tensor& rows,
                                                           const at::Tensor& offsets,
                                                           const at::Tensor& ranges,
                                                           std::optional<std::int64_t> low,
                                                           std::optional<std::int64_t> high, double largest);
} // namespace kernels

} // namespace spng
