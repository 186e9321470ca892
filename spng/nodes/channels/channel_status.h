// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGChannelStatus: optional node before SPNGDecon.

#include "spng/graph/node.h"
#include "spng/io/data_file_reader.h"
#include "spng/nodes/channels/channel_faults.h"

#include <string>
#include <vector>

namespace spng {

struct ChannelStatusConfig {
    std::string groups = "SPNGViewGroups";
    std::string group;
    std::vector<std::string> frer_spectrum;
    std::string spectra;
    std::string channel_list;
    double min_rms = ChannelFaultRule{}.min_rms;
    double max_rms = ChannelFaultRule{}.max_rms;
    double max_level = ChannelFaultRule{}.max_level;
    std::int64_t block = ChannelFaultRule{}.block;
    static constexpr auto fields() {
        using C = ChannelStatusConfig;
        return std::make_tuple(
            field(&C::groups, "groups", "", not_empty(), "name of the SPNGViewGroups component"),
            field(&C::group, "group", "", required(), "name of the view group of the input"),
            field(&C::frer_spectrum, "frer_spectrum", "", required(),
                  "names of the TorchFRERSpectrum components, one per view, with the unit and the sampling "
                  "of the "
                  "waveforms"),
            field(&C::spectra, "spectra", "", any(),
                  "file of measured noise spectra; empty or missing, or without the plane: the expected "
                  "noise of a "
                  "channel is that of its view"),
            field(&C::channel_list, "channel_list", "", any(),
                  "name of the SPNGChannelList component with limits of the RMS of channels; empty: none"),
            field(&C::min_rms, "min_rms", "1", between(0, 1),
                  "a channel is dead if its noise is at most this, in units of the expected noise"),
            field(&C::max_rms, "max_rms", "1", at_least(1),
                  "a channel is noisy if its noise exceeds this, in units of the expected noise"),
            field(&C::max_level, "max_level", "1", at_least(1),
                  "largest factor between the noise of a view and that of the spectra that is taken as the "
                  "expected noise"),
            field(&C::block, "block", "ticks", at_least(64),
                  "length of the blocks in which noise is measured"));
    }
};

/// In and out: waveforms (view, channel, tick) [ADC], unchanged. Channels with a fault are not good in the output, and
/// ChannelTable::fault has the fault. Formulas in channel_faults.h.
class ChannelStatus : public NodeWith<ChannelStatusConfig>, public DataFileReader {
protected:
    void prepare_node(Environment& environment) override;
    Ports process(const Ports& inputs) override;

private:
    const std::string& data_file_name() const override { return config().spectra; }

    ChannelFaultRule m_rule;
    ExpectedNoise m_expected; ///< on the device
};

} // namespace spng
