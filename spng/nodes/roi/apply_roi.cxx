// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/roi/apply_roi.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/rows/encodings.h"
#include "spng/graph/tensor_node.h"
#include "spng/nodes/roi/compact_regions.h"
#include "spng/nodes/roi/rebaseline.h"

#include <cmath>

namespace spng {
namespace {

const Registration<ApplyROI> registration{
    {.type = "SPNGApplyROI",
     .kind = "roi",
     .inputs = {"waveform", "regions", "noise"},
     .outputs = {"signal"},
     .text = "keeps the charge inside the ROIs and subtracts a baseline",
     .memory = step_memory_rule()}};

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
    NamedTensor signal = like(waveform, config().output, {});
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
    signal.notes = regions.notes;
    std::vector<NamedTensor> tensors{std::move(signal)};
    if (inputs[0]->event().window) {
        tensors.push_back(regions);
    }
    return output_of(inputs[0], std::move(tensors));
}

} // namespace spng
