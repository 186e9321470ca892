// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGChannelStatus: optional node before SPNGDecon.

#include "spng/graph/tensor_node.h"
#include "spng/instrument/report/input_report.h"
#include "spng/io/data_file_reader.h"
#include "spng/nodes/channels/channel_faults.h"
#include "spng/nodes/noise/masked_share.h"

#include <string>
#include <vector>

namespace spng {

struct ChannelStatusConfig {
    std::string groups = "SPNGViewGroups";
    std::string group;
    std::vector<std::string> frer_spectrum;
    std::string spectra;
    double gain = 0;
    std::string channel_list;
    std::string shared_noise = "none";
    std::vector<std::int64_t> board_channels;
    std::vector<std::int64_t> board_shift = {0};
    double min_rms = ChannelFaultRule{}.min_rms;
    double max_rms = ChannelFaultRule{}.max_rms;
    double max_level = ChannelFaultRule{}.max_level;
    std::int64_t block = ChannelFaultRule{}.block;
    double max_bad_share = 0.05;
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
            field(&C::gain, "gain", "MV/e", at_least(0),
                  "gain of the electronics, to which the spectra are scaled; 0: they are taken as they are"),
            field(&C::channel_list, "channel_list", "", any(),
                  "name of the SPNGChannelList component with limits of the RMS of channels; empty: none"),
            field(&C::shared_noise, "shared_noise", "", one_of("none", "kept", "removed"),
                  "noise that front-end boards share. none: there is none, or see board_channels; kept: a "
                  "later "
                  "step subtracts it, find dead channels only; removed: an earlier step subtracted it"),
            field(&C::board_channels, "board_channels", "channels", at_least(3),
                  "with shared_noise none: channels are judged by a copy of the waveforms without the noise "
                  "that "
                  "so many channels with consecutive ids share, one value for all views or one per view; "
                  "empty: by the waveforms"),
            field(&C::board_shift, "board_shift", "channels", Range{.low = 0, .not_empty = true},
                  "index in its view of the first channel of the first board; one value for all views or one "
                  "per view"),
            field(&C::min_rms, "min_rms", "1", between(0, 1),
                  "a channel is dead if its noise is at most this, in units of the expected noise"),
            field(&C::max_rms, "max_rms", "1", at_least(1),
                  "a channel is noisy if its noise exceeds this, in units of the expected noise"),
            field(&C::max_level, "max_level", "1", at_least(1),
                  "largest factor between the noise of a view and that of the spectra that is taken as the "
                  "expected noise"),
            field(&C::block, "block", "ticks", at_least(64),
                  "length of the blocks in which noise is measured"),
            field(&C::max_bad_share, "max_bad_share", "1", between(0, 1),
                  "warn if a larger share of a view's channels has a fault"));
    }
};

/// In and out: waveforms (view, channel, tick) [ADC], unchanged. Channels with a fault are not good in the output, and
/// ChannelTable::fault has the fault. Formulas in channel_faults.h.
///
/// With boards, dead channels are found by the waveforms (SharedNoise::kept), and then the other faults by what
/// remove_coherent_noise() leaves of them (SharedNoise::removed). A share of faults above max_bad_share gives one warning
/// per view, faults of an earlier node included.
class ChannelStatus : public TensorNode<ChannelStatusConfig>,
                      public DataFileReader,
                      public instrument::ReportsInput {
public:
    instrument::InputReport input_report() const override;

protected:
    void configured() override;
    void prepare_node(Environment& environment) override;
    NamedTensor reporting_step(NamedTensor tensor, const EventInfo& event, Reports& reports) override;

private:
    const std::string& data_file_name() const override { return config().spectra; }
    /// Return the fault of each channel, (view, channel) uint8, also those found earlier.
    at::Tensor faults_of(const at::Tensor& waveforms, const ChannelTable& channels) const;

    ChannelFaultRule m_rule;
    ExpectedNoise m_expected;
    at::Tensor m_boards; ///< (board, member) int64 rows of the input, on the device; undefined without boards
    MaskedShareWatch m_watch{"channels", {"dead", "noisy"}};
};

} // namespace spng
