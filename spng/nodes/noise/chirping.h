// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGChirping: optional node before SPNGDecon. It finds the ticks in which a preamplifier chirps
// (docs/physics-notes.md#chirping-channels).

#include "spng/graph/tensor_node.h"
#include "spng/instrument/report/input_report.h"
#include "spng/nodes/noise/masked_share.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace spng {

struct ChirpingConfig {
    double max_rms = 0;
    std::int64_t block = 20;
    double max_alternation = 0.2;
    double max_bad_share = 0.05;
    static constexpr auto fields() {
        using C = ChirpingConfig;
        return std::make_tuple(
            field(&C::max_rms, "max_rms", "ADC", required(above(0)),
                  "a block is quiet if its RMS is below this"),
            field(&C::block, "block", "ticks", between(4, 1000), "length of the blocks"),
            field(&C::max_alternation, "max_alternation", "1", between(0, 1),
                  "a channel chirps if a smaller share of its quiet blocks has a neighbour that is not "
                  "quiet"),
            field(&C::max_bad_share, "max_bad_share", "1", between(0, 1),
                  "warn if a larger share of a view's channels chirps for more than half of the readout"));
    }
};

/// Find the ticks in which channels chirp: their preamplifier saturates, and the waveform has neither noise nor signal.
///
/// The readout is divided into blocks; a rest shorter than a block is not used. A block is quiet if its RMS is below
/// max_rms. A channel chirps if five blocks in a row are quiet, and either the share of its quiet blocks that have a
/// neighbour that is not quiet is below max_alternation, or it has less than 2 / max_alternation quiet blocks, all in
/// one run. The range is from the first to the last run of five, or the longest run if the quiet blocks are fewer than half
/// of that, as with straight lines over ticks that the input masks; and one block more on either side. With at least 99 %
/// of quiet blocks it is the whole readout.
/// @param waveforms  (..., channel, tick) int16, float32 or float64; finite where good
/// @param good       (..., channel) bool: other channels do not chirp
/// @return (..., channel, 1, 2) int32: begin and end tick; equal for channels that do not chirp
/// @throws Error(Internal) for other shapes or types
at::Tensor chirping_ranges(const at::Tensor& waveforms, const at::Tensor& good, const ChirpingConfig& rule);

/// In and out: waveforms (view, channel, tick) [ADC]. The output is real, has straight lines where channels chirp, and
/// lists these ticks (ChannelTable::bad_ticks, mask "chirp"). A channel that chirps all the time is not good.
/// If more than max_bad_share of the good channels of a view chirp for more than half of the readout, this gives a warning.
class Chirping : public TensorNode<ChirpingConfig>, public instrument::ReportsInput {
public:
    instrument::InputReport input_report() const override { return m_watch.report(); }

protected:
    NamedTensor reporting_step(NamedTensor tensor, const EventInfo& event, Reports& reports) override;

private:
    MaskedShareWatch m_watch{"chirping", {"chirping for most of the readout"}};
};

} // namespace spng
