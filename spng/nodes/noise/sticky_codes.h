// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGStickyCodes: optional node before SPNGDecon. It repairs samples of digitisers whose low bits stick
// (docs/physics-notes.md#sticky-codes).

#include "spng/core/notes.h"
#include "spng/graph/tensor_node.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace spng {

struct StickyCodesConfig {
    std::int64_t modulus = 64;
    std::vector<std::int64_t> codes = {0, 63};
    std::int64_t adc_bits = 0;
    double significance = 8;
    static constexpr auto fields() {
        using C = StickyCodesConfig;
        return std::make_tuple(
            field(&C::modulus, "modulus", "", between(8, 4096),
                  "the bits below this power of two may stick: 64 for the lowest six"),
            field(&C::codes, "codes", "", Range{.low = 0, .high = 4095, .not_empty = true},
                  "values of these bits at which samples stick"),
            field(&C::adc_bits, "adc_bits", "", between(0, 16),
                  "resolution of the digitiser: samples at its lowest and highest value are saturated, not "
                  "stuck; 0: unknown"),
            field(&C::significance, "significance", "sigma", between(3, 100),
                  "a channel sticks if samples differ from their neighbours more often at these codes than "
                  "at adjacent ones, by this significance"));
    }
};

struct RepairedSamples {
    at::Tensor waveforms; ///< shape and type of the input
    at::Tensor counts;    ///< (..., channel) int64: samples at the codes in channels that stick, 0 in others
};

/// Interpolate the samples at sticky codes in the channels that stick. All other samples keep their bits.
///
/// Let s(i) = |x(i) - (x(i-1) + x(i+1)) / 2|, for ticks whose neighbours are not at the codes. It is large
/// above max(2 mean s, modulus / 8), with the mean over ticks that are not at the codes. A channel sticks if
/// n > 2 e + significance sqrt(e + 1), where n is the count of large s at the codes, and e that at the two
/// adjacent codes on either side, in proportion. An ideal digitiser has n = e, whatever its noise and baseline.
/// With a mean s of modulus / 16 or more, it sticks too if this holds for the counts of all samples at these codes,
/// because stuck samples hide in white noise around one of the codes.
///
/// A sample becomes the cubic polynomial through the two nearest samples on either side that are not at the
/// codes; after six and more in a row, or with only one on a side, the straight line, or the only neighbour.
/// Only the bits below the modulus can be wrong, so the result is limited to the samples that share the others.
/// @param waveforms  (..., channel, tick) int16 (the result is rounded to nearest), float32 or float64
/// @param good       (..., channel) bool: the other channels are not changed
/// @param picks_rows  true: read which channels stick, and interpolate only these; a device would have to wait
/// @throws Error(Internal) for other shapes or types
RepairedSamples repair_sticky_codes(const at::Tensor& waveforms, const at::Tensor& good,
                                    const StickyCodesConfig& rule, bool picks_rows);

/// In and out: waveforms (view, channel, tick) [ADC], of the same type. The note "sticky_codes" has the counts of
/// channels and samples of each view, and of channels with more than half of their samples at the codes.
class StickyCodes : public TensorNode<StickyCodesConfig> {
protected:
    void configured() override;
    NamedTensor reporting_step(NamedTensor tensor, const EventInfo& event, Reports& reports) override;
};

} // namespace spng
