// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/frame/frame_file_sink.h"

#include "spng/core/notes.h"
#include "spng/graph/memory_rule.h"
#include "spng/io/mask_ticks.h"

#include <cmath>

namespace spng {
namespace {

/// The last frame is written while the next event is processed.
std::vector<PlannedSet> plan_memory(const FrameFileSinkConfig&, PlannedCall& call) {
    call.stage(call.inputs.at(0));
    return {};
}

const Registration<FrameFileSink> registration{{.type = "FrameFileSink",
                                                .kind = "sink",
                                                .inputs = {"frame"},
                                                .concurrency = Concurrency::serial,
                                                .text = "writes events to a frame file",
                                                .memory = memory_rule<FrameFileSink>({.call = plan_memory})}};

/// Set the times of the samples: those of the event, unless the axis of the tensor has others.
void set_times(TaggedTraces& traces, const NamedTensor& tensor, const EventInfo& event) {
    traces.start_ns = event.start;
    traces.tick_ns = event.tick;
    traces.first_tick = event.first_tick;
    if (tensor.axes.empty()) {
        return;
    }
    const Axis& axis = tensor.axes.back();
    const double ticks = (axis.start - event.start) / event.tick;
    const double rounding = 1e-3; // of times computed in another order [ticks]
    if (axis.period == event.tick && std::abs(ticks - std::round(ticks)) <= rounding) {
        traces.first_tick = static_cast<int>(std::lround(ticks));
    } else {
        traces.start_ns = axis.start;
        traces.tick_ns = axis.period;
        traces.first_tick = 0;
    }
}

} // namespace

Frame frame_from(const TensorSet& set, bool with_masks) {
    const EventInfo& event = set.event();
    Frame frame;
    frame.ident = event.ident;
    for (const auto& tensor : set.tensors()) {
        const at::Tensor ids = tensor.channels->ids.contiguous();
        const auto* id = ids.const_data_ptr<std::int32_t>();
        TaggedTraces traces;
        traces.tag = tensor.name;
        traces.samples = tensor.data;
        if (const auto* sparse = tensor.sparse()) {
            traces.sparse = std::make_shared<const SparseSamples>(*sparse);
        }
        traces.channels.assign(id, id + ids.numel());
        set_times(traces, tensor, event);
        if (tensor.summary.defined()) {
            traces.summary = tensor.summary;
        }
        frame.traces.push_back(std::move(traces));
        merge_notes(frame.notes, tensor.notes);
    }
    if (with_masks && !frame.traces.empty()) {
        frame.channel_masks = shifted(event.masks, frame.traces.front().first_tick);
    }
    return frame;
}

void FrameFileSink::begin_run(Environment&) {
    // Open the file before the first event, so that an unwritable folder is reported before any work is done.
    m_writer = std::make_unique<FramesBehind>(
        config().outname, config().level < 0 ? std::nullopt : std::optional(config().level),
        config().write_behind, config().frames == "sparse" ? FrameForm::sparse : FrameForm::dense);
}

Ports FrameFileSink::process(const Ports& inputs) {
    m_writer->write(frame_from(*inputs[0], config().masks), inputs[0]->event().index);
    return {};
}

} // namespace spng
