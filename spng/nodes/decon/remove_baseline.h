// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGRemoveBaseline: waveforms around 0, for the tag decon_charge.

#include "spng/graph/tensor_node.h"

#include <string>
#include <tuple>

namespace spng {

struct RemoveBaselineConfig {
    std::string output = "decon_charge";
    static constexpr auto fields() {
        return std::make_tuple(
            field(&RemoveBaselineConfig::output, "output", "", not_empty(), "name of the output tensor"));
    }
};

/// Subtract from each channel its median over the readout (subtract_baseline_and_pad). The deconvolution turns slow
/// noise of an induction wire into an offset of up to 6e4 electrons per tick, which is no charge.
/// In: waveforms (view, channel, tick) [electrons]. Out: the same; 0 for channels that are not good.
class RemoveBaseline : public TensorNode<RemoveBaselineConfig> {
protected:
    NamedTensor step(NamedTensor waveform, const EventInfo& event) override;
};

} // namespace spng
