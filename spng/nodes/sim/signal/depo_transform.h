// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGDepoTransform: simulate the waveforms of drifted charge on the channels of an anode, without noise.

#include "spng/graph/node.h"
#include "spng/nodes/sim/signal/depo_readout.h"
#include "spng/nodes/sim/signal/impact_convolution.h"

#include <string>
#include <vector>

namespace spng {

struct DepoTransformConfig : DepoReadoutConfig {
    std::string field_response = "FieldResponse";
    std::vector<std::string> elec_response = {"ColdElecResponse"};
    double adc_per_voltage = 0;
    std::string output = "signal";
    static constexpr auto fields() {
        using C = DepoTransformConfig;
        return std::tuple_cat(
            DepoReadoutConfig::fields(),
            std::make_tuple(field(&C::field_response, "field_response", "", not_empty(),
                                  "name of the FieldResponse component"),
                            field(&C::elec_response, "elec_response", "", not_empty(),
                                  "names of the components with the response of the electronics: one, "
                                  "or one for each of the planes U, V, W"),
                            field(&C::adc_per_voltage, "ADC_mV", "1/MV", required(above(0)),
                                  "ADC counts per unit of voltage: 2^bits / full scale"),
                            field(&C::output, "output", "", not_empty(),
                                  "name of the output tensor, the tag in a frame file")));
    }
};

/// In: depositions at the response planes (DepoReadout). Out: (channel, tick) on the host [ADC above the
/// baseline], for all channels of the anode in ascending channel id.
///
/// Sample n of a channel is the sum over impact positions p and ticks m of charge(p, m) kernel(p, n - m).
/// charge(p, m) arrives at the response plane in [m, m + 1) ticks after the start. The kernel is that of the
/// deconvolution (response_kernel.h) before its average over positions. Charge before the start contributes,
/// up to the length of the response. A warning gives the number of dropped depositions.
class DepoTransform : public NodeWith<DepoTransformConfig> {
protected:
    void prepare_node(Environment& environment) override;
    Ports process(const Ports& inputs) override;

private:
    struct Plane {
        at::Tensor rows; ///< (channel) int64, rows of the frame
        ImpactConvolution convolution;
        ChargeBinningConfig binning;
    };

    DepoReadout m_readout;
    std::vector<Plane> m_planes;
    Notes m_notes; ///< file of the field response
};

} // namespace spng
