#pragma once
// SPNGChannelRMS: the noise of each channel, computed once for all that measure against it.

#include "spng/graph/node.h"

#include <string>

namespace spng {

struct ChannelRMSConfig {
    std::string rms = "robust";
    double cut = 3;
    static constexpr auto fields() {
        using C = ChannelRMSConfig;
        return std::make_tuple(field(&C::rms, "rms", "", one_of("robust", "plain"),
                                     "robust: about the median, from samples within the cut; plain: standard "
                                     "deviation with all signal"),
                               field(&C::cut, "cut", "sigma", between(1, 10),
                                     "robust: samples farther from the median than this are signal"));
    }
};

/// In: waveforms (view, channel, tick). Out: the same, each with the RMS (view, channel) of its channels as
/// summary, and with "robust" their medians as pedestal; nothing is copied. Formulas in robust_rms.h.
class ChannelRMS : public NodeWith<ChannelRMSConfig> {
protected:
    Ports process(const Ports& inputs) override;
};

} // namespace spng
