#pragma once
// SPNGChannelRMS: the noise of each channel, computed once for all that measure against it.

#include "spng/graph/node.h"

#include <string>

namespace spng {

struct ChannelRMSConfig {
    std::string rms = "robust";
    static constexpr auto fields() {
        return std::make_tuple(field(&ChannelRMSConfig::rms, "rms", "", one_of("robust", "plain"),
                                     "robust: from percentiles, then without samples beyond 5 sigma; plain: "
                                     "standard deviation with all signal"));
    }
};

/// In: waveforms (view, channel, tick). Out: the same, each with the RMS (view, channel) of its channels as
/// summary; nothing is copied.
class ChannelRMS : public NodeWith<ChannelRMSConfig> {
protected:
    Ports process(const Ports& inputs) override;
};

} // namespace spng
