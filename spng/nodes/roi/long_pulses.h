#pragma once
// SPNGLongPulses: images in which the long, weak pulses of steep tracks stand out.

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
                  "samples are clipped here, so that a short bright pulse does not look long"),
            field(&C::samples, "samples", "samples", Range{.low = 1, .not_empty = true},
                  "lengths of the running sums, odd"),
            field(&C::cut, "cut", "sigma", between(1, 10), "of the noise RMS, see SPNGChannelRMS"),
            field(&C::stride, "stride", "samples", at_least(1), "noise is measured on every so many samples"),
            field(&C::cyclic, "cyclic", "", any(),
                  "the last channel of a view is next to its first (wrapped planes)"));
    }
};

/// Sum of a channel and its two neighbours: a steep track covers several wires at once, while their slow
/// noise is independent.
/// @param waveform  (view, channel, tick) real
/// @param cyclic    the last channel of a view is next to its first; otherwise the outer channels have one
/// neighbour
at::Tensor sum_of_neighbours(const at::Tensor& waveform, bool cyclic);

/// y_t = sum_{|j| <= (samples - 1) / 2} clamp((x_{t+j} - pedestal) / rms, -clip, clip), nothing beyond the
/// ends; 0 for channels with an RMS of 0. The matched filter of a pulse that is long and weak.
/// @param waveform       float32 or float64 (..., channel, tick)
/// @param pedestal, rms  (..., channel) of the same type
/// @param samples        odd
/// @return shape and type of waveform, in units of rms
/// Throws Error(Internal) for other shapes, types or an even number. One operator call:
/// spng::clipped_running_sum.
at::Tensor clipped_running_sum(const at::Tensor& waveform, const at::Tensor& pedestal, const at::Tensor& rms,
                               double clip, std::int64_t samples);

/// In: one waveform (view, channel, tick). Out: "loose", the sum of neighbours, and "long", its clipped
/// running sum, each with RMS as summary and median as pedestal.
class LongPulses : public NodeWith<LongPulsesConfig> {
protected:
    void configured() override;
    Ports process(const Ports& inputs) override;
};

} // namespace spng
