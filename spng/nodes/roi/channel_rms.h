#pragma once
// SPNGChannelRMS: the noise of each channel, computed once for all that measure against it.

#include "spng/graph/node.h"
#include "spng/nodes/roi/robust_rms.h"

#include <string>

namespace spng {

struct ChannelRMSConfig {
    std::string rms = "robust";
    double cut = 3;
    double cap = 0;
    std::int64_t stride = 1;
    static constexpr auto fields() {
        using C = ChannelRMSConfig;
        return std::make_tuple(field(&C::rms, "rms", "", one_of("robust", "plain"),
                                     "robust: about the median, from samples within the cut; plain: standard "
                                     "deviation with all signal"),
                               field(&C::cut, "cut", "sigma", between(1, 10),
                                     "robust: samples farther from the median than this are signal"),
                               field(&C::cap, "cap", "1", at_least(0),
                                     "robust: no channel is noisier than this times its view's median RMS, "
                                     "the excess is signal; 0: no limit"),
                               field(&C::stride, "stride", "samples", at_least(1),
                                     "the noise is measured on every so many samples: neighbours are "
                                     "correlated, so little is lost"));
    }
};

/// Noise with a limit for channels that a track along the drift fills for most of the readout, which would
/// hide it: the RMS is at most cap times the lower median of the RMS of the view's channels that have any
/// noise, and the median at most low + RMS.
/// @param noise  each (view, channel)
ChannelNoise capped(const ChannelNoise& noise, double cap);

/// In: waveforms (view, channel, tick). Out: the same, each with the RMS (view, channel) of its channels as
/// summary, and with "robust" their medians as pedestal; nothing is copied. Formulas in robust_rms.h.
class ChannelRMS : public NodeWith<ChannelRMSConfig> {
protected:
    Ports process(const Ports& inputs) override;
};

} // namespace spng
