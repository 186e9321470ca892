// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGChannelRMS: measure the noise of each channel once for all nodes that use it
// (docs/physics-notes.md#noise-rms).

#include "spng/graph/node.h"
#include "spng/nodes/roi/robust_rms.h"

#include <string>

namespace spng {

struct ChannelRMSConfig {
    std::string rms = "robust";
    double cut = 3;
    double cap = 0;
    std::int64_t stride = 1;
    std::string expected_noise;
    static constexpr auto fields() {
        using C = ChannelRMSConfig;
        return std::make_tuple(
            field(&C::rms, "rms", "", one_of("robust", "plain"),
                  "robust: RMS about the median, from samples within the cut; plain: "
                  "standard deviation including signals"),
            field(&C::cut, "cut", "sigma", between(1, 10),
                  "robust: samples farther from the median than this are signal"),
            field(&C::cap, "cap", "1", at_least(0),
                  "robust: limit of a channel's RMS over the median RMS of the good "
                  "channels of its view; the excess is signal; 0: no limit"),
            field(&C::stride, "stride", "samples", at_least(1),
                  "measure the noise on every n-th sample; neighbouring samples are "
                  "correlated, so little information is lost"),
            field(&C::expected_noise, "expected_noise", "", any(),
                  "name of the SPNGImageNoise component of the waveforms, for views with too "
                  "few good channels to measure their noise; empty: none"));
    }
};

/// In: waveforms (view, channel, tick). Out: the same tensors, not copied, with the RMS (view, channel) of
/// each channel as summary and, with "robust", the median as pedestal; and the expected noise, if it is known. Formulas
/// in robust_rms.h.
class ChannelRMS : public NodeWith<ChannelRMSConfig> {
protected:
    void prepare_node(Environment& environment) override;
    Ports process(const Ports& inputs) override;

private:
    at::Tensor m_expected; ///< (view, channel) on the device; undefined: none
};

} // namespace spng
