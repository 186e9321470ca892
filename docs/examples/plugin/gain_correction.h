// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spng/graph/node.h"

#include <ATen/core/Tensor.h>

#include <tuple>

namespace example {

struct GainCorrectionConfig {
    double factor = 1;
    static constexpr auto fields() {
        return std::make_tuple(spng::field(&GainCorrectionConfig::factor, "factor", "", spng::above(0),
                                           "true gain over the gain of the detector's files"));
    }
};

/// Return the waveform divided by the factor. Shape and type do not change.
at::Tensor correct_gain(const at::Tensor& waveform, double factor);

/// In: waveforms (view, channel, tick) [electrons]. Out: the same, for another gain.
class GainCorrection : public spng::NodeWith<GainCorrectionConfig> {
protected:
    spng::Ports process(const spng::Ports& inputs) override;
};

} // namespace example
