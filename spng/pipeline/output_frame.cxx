// SPDX-License-Identifier: Apache-2.0
#include "spng/pipeline/output_frame.h"

#include "spng/core/sparse_samples.h"
#include "spng/io/frame.h"
#include "spng/nodes/frame/frame_file_sink.h"

#include <utility>

namespace spng {
namespace {

/// The tensors of one tag.
struct Samples {
    at::Tensor values, runs;
};

OutputTraces output_traces(TaggedTraces traces, OutputForm form) {
    const bool is_sparse =
        form == OutputForm::as_it_is ? traces.sparse != nullptr : form == OutputForm::sparse;
    OutputTraces output;
    auto kept = std::make_shared<Samples>();
    if (traces.sparse && !is_sparse) {
        traces.samples = dense(*traces.sparse);
    }
    const bool stays_dense = !is_sparse || (traces.samples.defined() && !traces.samples.is_cpu());
    if (stays_dense) {
        kept->values = traces.samples.contiguous();
        output.channels = kept->values.size(0);
        output.ticks = kept->values.size(1);
    } else {
        SparseSamples samples = traces.sparse ? *traces.sparse : sparse(traces.samples);
        if (traces.sparse && form != OutputForm::as_it_is) {
            samples = with_shortest_runs(samples);
        }
        kept->values = samples.values.contiguous();
        kept->runs = samples.runs.contiguous();
        output.channels = samples.rows;
        output.ticks = samples.ticks;
        output.is_sparse = true;
        output.runs = reinterpret_cast<const std::array<std::int32_t, 3>*>(kept->runs.const_data_ptr());
        output.run_count = kept->runs.size(0);
    }
    output.tag = std::move(traces.tag);
    output.type = kept->values.scalar_type() == at::kShort ? SampleType::int16 : SampleType::float32;
    output.samples = kept->values.const_data_ptr();
    output.cuda_device = kept->values.is_cuda() ? kept->values.device().index() : -1;
    output.channel_ids = std::move(traces.channels);
    output.start_ns = traces.start_ns;
    output.tick_ns = traces.tick_ns;
    output.first_tick = traces.first_tick;
    if (traces.summary) {
        const at::Tensor summary = traces.summary->cpu().contiguous();
        const auto* value = summary.const_data_ptr<double>();
        output.summary.assign(value, value + summary.numel());
    }
    output.owner = std::move(kept);
    return output;
}

} // namespace

OutputFrame output_frame(Frame frame, OutputForm form) {
    OutputFrame output;
    output.ident = frame.ident;
    for (TaggedTraces& traces : frame.traces) {
        output.traces.push_back(output_traces(std::move(traces), form));
    }
    output.masks = std::move(frame.channel_masks);
    output.notes = std::move(frame.notes);
    return output;
}

OutputFrame output_frame(const TensorSet& set, OutputForm form) {
    return output_frame(frame_from(set, /*with_masks=*/true), form);
}

} // namespace spng
