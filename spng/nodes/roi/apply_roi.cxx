// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/roi/apply_roi.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/rows/encodings.h"
#include "spng/graph/memory_rule.h"
#include "spng/nodes/roi/compact_regions.h"
#include "spng/nodes/roi/rebaseline.h"

#include <cmath>

namespace spng {
namespace {

std::vector<PlannedSet> plan_memory(const ApplyROIConfig&, PlannedCall& call) {
    const PlannedTensor& waveform = call.inputs.at(0).at(0);
    const auto working = call.scratch(MemoryUse::images, waveform.samples() * call.real);
    return {{call.make(waveform, MemoryUse::images, call.real)}};
}

const Registration<ApplyROI> registration{
    {.type = "SPNGApplyROI",
     .kind = "roi",
     .inputs = {"waveform", "regions", "noise"},
     .outputs = {"signal"},
     .text = "keeps the charge inside the ROIs and subtracts a baseline",
     .memory = memory_rule<ApplyROI>({.call = plan_memory})}};

} // namespace

std::vector<std::string> ApplyROI::input_ports() const {
    std::vector<std::string> ports{"waveform", "regions"};
    if (config().summary) {
        ports.emplace_back("noise");
    }
    return ports;
}

Ports ApplyROI::process(const Ports& inputs) {
    const NamedTensor& waveform = inputs[0]->only();
    const NamedTensor& regions = inputs[1]->at(config().roi);
    const auto factor = std::llround(regions.axes.back().period / waveform.axes.back().period);
    NamedTensor signal;
    signal.name = config().output;
    if (config().summary) {
        signal.summary = inputs[2]->only().summary;
    }
    NVTX_SCOPED_RANGE("ApplyROI::rebaseline");
    const at::Tensor mask = packed_mask(regions);
    const bool linear = config().baseline == "linear";
    if (compacts_rows(waveform.data.device())) {
        const auto compact = linear ? compact_regions_linear : compact_regions_restored;
        signal.data = compact(waveform.data, mask, factor);
        signal.encoding = CompactedRows{mask, factor};
    } else {
        const auto apply = linear ? apply_regions_linear : apply_regions_restored;
        signal.data = apply(waveform.data, mask, factor);
    }
    signal.axes = waveform.axes;
    signal.unit = waveform.unit;
    signal.channels = waveform.channels;
    signal.notes = regions.notes;
    std::vector<NamedTensor> tensors{std::move(signal)};
    if (inputs[0]->event().window) {
        tensors.push_back(regions);
    }
    return {std::make_shared<const TensorSet>(inputs[0]->event_ptr(), std::move(tensors))};
}

} // namespace spng
