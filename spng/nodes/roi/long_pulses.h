// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGLongPulses: make ROI images in which the long, weak pulses of steep tracks are significant.

#include "spng/graph/node.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace spng {

struct LongPulsesConfig {
    double clip = 4;
    std::vector<std::int64_t> samples = {17, 51};
    double cut = 3;
    std::int64_t stride = 1;
    bool cyclic = false;
    static constexpr auto fields() {
        using C = LongPulsesConfig;
        return std::make_tuple(
            field(&C::clip, "clip", "sigma", above(0),
                  "samples are clipped at this, so that a short bright pulse does not look long"),
            field(&C::samples, "samples", "samples", Range{.low = 1, .not_empty = true},
                  "lengths of the running sums, odd; one ROI image each"),
            field(&C::cut, "cut", "sigma", between(1, 10), "cut of the noise RMS, see SPNGChannelRMS"),
            field(&C::stride, "stride", "samples", at_least(1), "measure the noise on every n-th sample"),
            field(&C::cyclic, "cyclic", "", any(),
                  "true: the last channel of a view is next to its first (wrapped planes)"));
    }
};

/// Return the sum of each channel and its two neighbours, added in the order own, before, after. A steep track
/// covers several wires at once, while the slow noise of the wires is independent.
/// @param waveform  (view, channel, tick) float32 or float64
/// @param cyclic    the last channel of a view is next to its first, and the sum of an outer channel ends with
///                  the other one; otherwise the outer channels have one neighbour
/// @return contiguous, shape and type of `waveform`
/// @throws Error(Internal) for another shape or type
/// One operator call: spng::sum_of_neighbours.
at::Tensor sum_of_neighbours(const at::Tensor& waveform, bool cyclic);

/// Return y_t = sum_{|j| <= (n - 1) / 2} clamp((x_{t+j} - pedestal) / rms, -clip, clip) for each length n, a
/// matched filter for long, weak pulses. Samples beyond the ends of a row count as 0. Channels with an RMS of 0
/// give 0.
/// @param waveform       (..., channel, tick) float32 or float64
/// @param pedestal, rms  (..., channel) of the same type
/// @param samples        lengths of the sums, odd
/// @return (length, ..., channel, tick), type of `waveform` [rms]
/// @throws Error(Internal) for other shapes, other types or an even length
/// One operator call: spng::clipped_running_sum.
at::Tensor clipped_running_sum(const at::Tensor& waveform, const at::Tensor& pedestal, const at::Tensor& rms,
                               double clip, const std::vector<std::int64_t>& samples);

namespace kernels { // the bodies on CUDA: spng/kernels/running_sum.cxx
at::Tensor sum_of_neighbours(const at::Tensor& waveform, bool cyclic);
at::Tensor clipped_running_sum(const at::Tensor& waveform, const at::Tensor& pedestal, const at::Tensor& rms,
                               double clip, at::IntArrayRef samples);
} // namespace kernels

/// In: one waveform (view, channel, tick). Out: "loose", the sum of neighbours, and for each of `samples`
/// "long<samples>", its clipped running sum; each with its RMS as summary and its median as pedestal.
class LongPulses : public NodeWith<LongPulsesConfig> {
protected:
    void configured() override;
    Ports process(const Ports& inputs) override;
};

} // namespace spng
