// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGNegativePulses: optional node before SPNGDecon. It finds the ticks in which a front-end board sends a negative
// pulse on its channels (docs/physics-notes.md#negative-pulses-of-boards).

#include "spng/graph/tensor_node.h"
#include "spng/instrument/report/input_report.h"
#include "spng/nodes/noise/masked_share.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace spng {

struct NegativePulsesConfig {
    std::string groups = "SPNGViewGroups";
    std::string group;
    std::vector<std::int64_t> board_channels;
    std::vector<std::int64_t> board_shift = {0};
    double share = 0.85;
    std::int64_t half_smoothing = 4;
    double threshold = 3.5;
    double min_depth = 3.5;
    std::int64_t width = 50;
    std::int64_t padding = 20;
    double max_bad_share = 0.05;
    static constexpr auto fields() {
        using C = NegativePulsesConfig;
        return std::make_tuple(
            field(&C::groups, "groups", "", not_empty(), "name of the SPNGViewGroups component"),
            field(&C::group, "group", "", required(), "name of the view group of the input"),
            field(&C::board_channels, "board_channels", "channels", required(at_least(3)),
                  "channels of a view that pulse together, with consecutive ids; one value for all views or "
                  "one "
                  "per view"),
            field(&C::board_shift, "board_shift", "channels", Range{.low = 0, .not_empty = true},
                  "index in its view of the first channel of the first board; one value for all views or one "
                  "per view"),
            field(&C::share, "share", "1", between(0.5, 1),
                  "share of a board's channels that must be below the limit"),
            field(&C::half_smoothing, "half_smoothing", "ticks", between(0, 100),
                  "channels are averaged over 2 n + 1 ticks"),
            field(&C::threshold, "threshold", "sigma", between(1, 20),
                  "a board pulses where its level is below this many sigma of the level, "
                  "below the width of the noise of its channels"),
            field(&C::min_depth, "min_depth", "ADC", at_least(0), "and below this level"),
            field(&C::width, "width", "ticks", between(1, 1000), "shorter pulses stay"),
            field(&C::padding, "padding", "ticks", between(0, 1000),
                  "ticks on both sides of a pulse that are bad too"),
            field(&C::max_bad_share, "max_bad_share", "1", between(0, 1),
                  "warn if a larger share of a view's channels is bad for more than half of the readout"));
    }
};

/// Find the ticks in which boards pulse.
///
/// Let d be x - median_t x, averaged over 2 half_smoothing + 1 ticks. The upper value u(t) is the order statistic of d
/// over the n good channels of the board with rank r = floor(share (n - 1)), the lower one has rank n - 1 - r, and W is the
/// median over time of their difference. The level of the board is c = u - median_t u, and sigma is half the distance between
/// the 16 % and 84 % order statistics of every fourth sample of c. A board with seven good channels or more pulses where c
/// is below -max(threshold sigma, W, min_depth) for more than `width` ticks in a row. A track does not do that: its signal is
/// positive on collection planes, and on so many channels at once it is shorter on the others
/// (docs/decisions/real-noise.md).
/// @param waveforms  (..., channel, tick) int16, float32 or float64; finite where good
/// @param good       (..., channel) bool: other channels do not contribute and get no range
/// @param boards     (board, member) int64 on the device of `waveforms`, see board_rows()
/// @return (..., channel, 4, 2) int32: begin and end tick of up to four pulses; equal for none; the fourth covers all
/// further ones
/// @throws Error(Internal) for other shapes or types
at::Tensor negative_pulses(const at::Tensor& waveforms, const at::Tensor& good, const at::Tensor& boards,
                           const NegativePulsesConfig& rule);

/// In and out: waveforms (view, channel, tick) [ADC]. The output is real, has straight lines in place of the pulses,
/// and lists these ticks (ChannelTable::bad_ticks, mask "femb_noise").
/// If more than max_bad_share of the good channels of a view pulse for more than half of the readout, this gives a warning.
class NegativePulses : public TensorNode<NegativePulsesConfig>, public instrument::ReportsInput {
public:
    instrument::InputReport input_report() const override { return m_watch.report(); }

protected:
    void prepare_node(Environment& environment) override;
    NamedTensor reporting_step(NamedTensor tensor, const EventInfo& event, Reports& reports) override;

private:
    at::Tensor m_boards; ///< (board, member) int64 rows of the input, on the device
    MaskedShareWatch m_watch{"negative", {"in pulses for most of the readout"}};
};

} // namespace spng
