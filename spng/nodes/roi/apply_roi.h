#pragma once
// SPNGApplyROI: the charge inside the regions, each with its own baseline.

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
                  "linear: a line through the ends of each region (induction); restored: the channel's mean "
                  "outside all "
                  "regions (collection, where a line would cost charge)"),
            field(&C::roi, "roi", "", not_empty(), "name of the mask in the set at port 1"),
            field(&C::output, "output", "", not_empty(), "name of the output tensor"),
            field(&C::summary, "summary", "", any(),
                  "copy the noise RMS of each channel from the tensor at the port `noise`, which exists "
                  "only then"));
    }
};

/// Port 0: waveform (view, channel, tick) [electrons]; port 1: a mask of its channels, at the same or a
/// coarser sampling; port 2, with `summary`: a tensor of the same channels from SPNGChannelRMS. Out: the
/// waveform inside the regions, 0 outside; formulas in rebaseline.h. With the waveform of a window of a long
/// readout goes its mask, by which windows are joined.
class ApplyROI : public NodeWith<ApplyROIConfig> {
public:
    std::vector<std::string> input_ports() const override;

protected:
    Ports process(const Ports& inputs) override;
};

} // namespace spng
