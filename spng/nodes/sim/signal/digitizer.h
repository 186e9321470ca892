// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGDigitizer: convert waveforms to integer ADC counts.

#include "spng/graph/node.h"

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace spng {

struct DigitizerConfig {
    std::string anode = "AnodePlane";
    std::vector<double> baselines;
    int bits = 14;
    std::string output = "*";
    static constexpr auto fields() {
        using C = DigitizerConfig;
        return std::make_tuple(field(&C::anode, "anode", "", not_empty(), "name of the AnodePlane component"),
                               field(&C::baselines, "baselines", "ADC", required(at_least(0)),
                                     "ADC count at zero voltage, by plane"),
                               field(&C::bits, "bits", "bits", between(1, 15),
                                     "resolution of the digitiser; counts are 0 to 2^bits - 1")
                                   .or_wct("resolution"),
                               field(&C::output, "output", "", not_empty(),
                                     "name of the output tensor, the tag in a frame file"));
    }
};

/// Return min(max(floor(v + baseline), 0), 2^bits - 1) as int16. NaN becomes 0.
/// @param waveforms  (channel, tick) real [ADC above the baseline]
/// @param baselines  (channel) real [ADC]
at::Tensor digitize(const at::Tensor& waveforms, const at::Tensor& baselines, int bits);

/// In: waveforms (channel, tick) on the host [ADC above the baseline] of all channels of an anode, in
/// ascending channel id. Out: int16 ADC counts.
class Digitizer : public NodeWith<DigitizerConfig> {
protected:
    void configured() override;
    void prepare_node(Environment& environment) override;
    Ports process(const Ports& inputs) override;

private:
    at::Tensor m_baselines; ///< (channel) float32
};

} // namespace spng
