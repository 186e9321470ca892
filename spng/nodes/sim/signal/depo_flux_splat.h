// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGDepoFluxSplat: true charge and true ROIs, the reference for the signal processing.

#include "spng/graph/node.h"
#include "spng/nodes/sim/signal/depo_readout.h"

#include <vector>

namespace spng {

struct DepoFluxSplatConfig : DepoReadoutConfig {
    std::vector<double> smear_long;
    std::vector<double> smear_tran;
    double delay = 0;
    double threshold = 500;
    std::int64_t rebin = 4;
    static constexpr auto fields() {
        using C = DepoFluxSplatConfig;
        return std::tuple_cat(
            DepoReadoutConfig::fields(),
            std::make_tuple(
                field(&C::smear_long, "smear_long", "ticks", required(at_least(0)),
                      "standard deviation added along time, by plane, as of the time filter"),
                field(&C::smear_tran, "smear_tran", "pitches", required(at_least(0)),
                      "standard deviation added across the wires, by plane, as of the wire filter"),
                field(&C::delay, "delay", "ns", at_least(0),
                      "time from the response plane to the truth: origin / speed of the field response"),
                field(&C::threshold, "threshold", "electrons", at_least(0),
                      "a pixel is true if one of its ticks is above this"),
                field(&C::rebin, "rebin", "ticks", at_least(1), "ticks per pixel")));
    }
};

/// In: depositions at the response planes (DepoReadout).
/// Out: (channel, tick) on the host, for all channels of the anode in ascending channel id:
/// - "truth", float32 [electrons]: the charge of each deposition, as a Gaussian with the sum of the variances
///   of diffusion and smearing, integrated over tick and wire region, `delay` after the response plane.
/// - "roi", int16: 1 in true pixels (`rebin` ticks, one of them above `threshold`), otherwise 0.
class DepoFluxSplat : public NodeWith<DepoFluxSplatConfig> {
protected:
    void configured() override;
    void prepare_node(Environment& environment) override;
    Ports process(const Ports& inputs) override;

private:
    DepoReadout m_readout;
};

/// Return 1 for all ticks of a pixel if one of them is above the threshold, otherwise 0. The last pixel may
/// be shorter.
/// @param charge  (channel, tick) float32
/// @return (channel, tick) int16
at::Tensor true_regions(const at::Tensor& charge, double threshold, std::int64_t rebin);

} // namespace spng
