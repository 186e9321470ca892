#pragma once
// SPNGDepoFluxSplat: the truth that signal processing is measured against.

#include "spng/graph/node.h"
#include "spng/nodes/sim/signal/depo_readout.h"

#include <string>
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
                field(&C::smear_long, "smear_long", "ticks", Range{.low = 0, .required = true},
                      "standard deviation added along time, by plane: that of the time filter"),
                field(&C::smear_tran, "smear_tran", "pitches", Range{.low = 0, .required = true},
                      "standard deviation added across the wires, by plane: that of the wire filter"),
                field(&C::delay, "delay", "ns", at_least(0),
                      "from the response plane to the place where the truth is drawn: distance / speed of "
                      "the field response"),
                field(&C::threshold, "threshold", "electrons", at_least(0),
                      "a pixel is true when one of its ticks has more than this"),
                field(&C::rebin, "rebin", "ticks", at_least(1), "ticks of a pixel")));
    }
};

/// In: depositions at the response planes (DepoReadout). Out, (channel, tick) on the host, all channels of
/// the anode in ascending order:
/// - "truth", float32 [electrons]: the charge of each deposition, as a Gaussian whose variances are those of
///   diffusion plus those of the smearing, integrated over the tick and the wire region; arrival is `delay`
///   after the response plane.
/// - "roi", int16: 1 in true pixels (`rebin` ticks, one of them above `threshold`), else 0.
class DepoFluxSplat : public NodeWith<DepoFluxSplatConfig> {
protected:
    void configured() override;
    void prepare_node(Environment& environment) override;
    Ports process(const Ports& inputs) override;

private:
    DepoReadout m_readout;
};

/// 1 where any tick of the same pixel is above the threshold, else 0; the last pixel may be shorter.
/// @param charge  float32 (channel, tick)
/// @return int16 (channel, tick)
at::Tensor true_regions(const at::Tensor& charge, double threshold, std::int64_t rebin);

} // namespace spng
