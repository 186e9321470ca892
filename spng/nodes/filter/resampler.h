// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGResampler: bring raw waveforms to the sampling period of the chain (docs/physics-notes.md#resampling).

#include "spng/detector/resample.h"
#include "spng/graph/node.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace spng {

/// Minimum length of the line that closes the cycle of a transform [samples].
inline constexpr std::int64_t resampling_margin = 64;

/// Interpolate waveforms at the ticks of another sampling period, in the frequency domain. Sample 0 keeps its
/// time, and values stay values: ADC counts stay ADC counts.
///
/// A row of n samples is continued to N >= n + resampling_margin by the straight line from its last to its
/// first sample, so that the cyclic transform sees no jump at the ends. N is a multiple of ratio.to, so M = N
/// ratio.from / ratio.to samples of the other period take equally long:
///
/// y(j) = IRFFT_M[ (M / N) RFFT_N[x] ](j), 0 <= j < ceil(n ratio.from / ratio.to).
///
/// Frequencies below both Nyquist frequencies are exact, all others are removed. A few rows at a time.
/// @param waveforms  (..., channel, tick) int16, float32 or float64; finite
/// @param type       of the result, at::kFloat or at::kDouble
/// @return (..., channel, tick), contiguous
/// @throws Error(Internal) for other shapes or types
at::Tensor resample(const at::Tensor& waveforms, const PeriodRatio& ratio, at::ScalarType type);

/// In: waveforms (view, channel, tick) [ADC] with the sampling of the frame. Out: the same, real, with the
/// sampling period and the length of the event, which SPNGFrameToTorchSetFanout gives it (key chain_period).
/// Waveforms that have this period already pass unchanged.
class Resampler : public NodeWith<NoConfig> {
protected:
    Ports process(const Ports& inputs) override;
};

} // namespace spng
