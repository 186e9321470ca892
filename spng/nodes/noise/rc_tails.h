// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGRCTails: optional node before SPNGDecon. It restores waveforms behind the capacitors of an AC coupling
// (docs/physics-notes.md#tails-of-the-rc-coupling).

#include "spng/graph/tensor_node.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace spng {

struct RCTailsConfig {
    double constant = 0;
    std::int64_t layers = 1;
    static constexpr auto fields() {
        return std::make_tuple(
            field(&RCTailsConfig::constant, "constant", "ns", required(between(1e4, 1e9)),
                  "time constant RC of one coupling"),
            field(&RCTailsConfig::layers, "layers", "", between(1, 2), "couplings one behind the other"));
    }
};

/// Undo the high pass y(n) = (y(n-1) + x(n) - x(n-1)) / (1 + T / RC) of each of the layers:
/// x(n) = y(n) + (T / RC) sum_{k <= n} y(k).
///
/// The inverse has no bound at frequency 0: an offset of the input, and charge before the readout, become a
/// polynomial in time of degree `layers`. It is fitted to the means of blocks of ticks, without those that hold
/// signals, and its change since the first tick is subtracted. So the baseline is kept.
/// @param waveforms  (..., channel, tick) int16, float32 or float64; finite
/// @param ratio      T / RC: period of the samples over the time constant, above 0 and at most 0.1
/// @param layers     1 or 2
/// @return shape of `waveforms`, float64 for float64 and float32 otherwise
/// @throws Error(Internal) for other types or values
at::Tensor remove_rc_tails(const at::Tensor& waveforms, double ratio, std::int64_t layers);

/// In and out: waveforms (view, channel, tick) [ADC]. The output is real and keeps the baselines.
class RCTails : public TensorNode<RCTailsConfig> {
protected:
    NamedTensor step(NamedTensor tensor, const EventInfo& event) override;
};

} // namespace spng
