// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGApplyROI: keep the charge inside the ROIs, with a new baseline (docs/physics-notes.md#roi-application).

#include "spng/graph/node.h"

#include <string>
#include <vector>

namespace spng {

struct ApplyROIConfig {
    std::string baseline = "linear";
    std::string roi = "roi";
    std::string output = "signal";
    bool summary = false;
    static constexpr auto fields() {
        using C = ApplyROIConfig;
        return std::make_tuple(
            field(&C::baseline, "baseline", "", one_of("linear", "restored"),
                  "linear: line through the ends of each ROI (induction); restored: mean of the channel "
                  "outside all ROIs (collection, where a line would lose charge)"),
            field(&C::roi, "roi", "", not_empty(), "name of the mask in the set at port 1"),
            field(&C::output, "output", "", not_empty(), "name of the output tensor")
                .or_wct("output_tensor_tag"),
            field(&C::summary, "summary", "", any(),
                  "add an input port `noise` and copy the noise RMS of its tensor to the output"));
    }
};

/// In: port 0: waveform (view, channel, tick) [electrons]; port 1: mask of the same channels, at the same or
/// a coarser sampling; port 2, with `summary`: tensor of the same channels from SPNGChannelRMS. Out: waveform
/// with a new baseline inside the ROIs, 0 outside; formulas in rebaseline.h. On a device with our kernels its rows are
/// compacted (CompactedRows); dense_tensor() of encodings.h expands them. For a readout window of a long readout
/// also the mask, which SPNGStitchWindows needs.
class ApplyROI : public NodeWith<ApplyROIConfig> {
public:
    std::vector<std::string> input_ports() const override;

protected:
    Ports process(const Ports& inputs) override;
};

} // namespace spng
