// SPDX-License-Identifier: Apache-2.0
#include "adapters/wirecell/result_traces.h"

#include <algorithm>
#include <utility>

namespace spng::wirecell {
namespace {

/// Return samples [begin, end) as float32; masks are int16.
std::vector<float> samples_of(const OutputTraces& from, std::int64_t begin, std::int64_t end) {
    if (from.type == SampleType::int16) {
        const auto* samples = static_cast<const std::int16_t*>(from.samples);
        return {samples + begin, samples + end};
    }
    const auto* samples = static_cast<const float*>(from.samples);
    return {samples + begin, samples + end};
}

/// Append the traces of a product, and return their indices and summary.
ResultTag append(const OutputTraces& from, bool keeps_negative, std::vector<ResultTrace>& to) {
    ResultTag tag;
    const auto add = [&](std::int64_t row, std::int64_t first_tick, std::int64_t begin, std::int64_t end) {
        const auto index = static_cast<std::size_t>(row);
        ResultTrace trace{from.channel_ids[index], static_cast<int>(from.first_tick + first_tick),
                          samples_of(from, begin, end)};
        if (!keeps_negative) {
            for (float& sample : trace.samples) {
                sample = sample > 0 ? sample : 0;
            }
        }
        tag.traces.push_back(to.size());
        to.push_back(std::move(trace));
        if (!from.summary.empty()) {
            tag.summary.push_back(from.summary[index]);
        }
    };
    if (from.is_sparse) {
        std::int64_t begin = 0;
        for (std::int64_t run = 0; run < from.run_count; ++run) {
            const auto& [row, first, last] = from.runs[run];
            add(row, first, begin, begin + (last - first));
            begin += last - first;
        }
    } else {
        for (std::int64_t row = 0; row < from.channels; ++row) {
            add(row, 0, row * from.ticks, (row + 1) * from.ticks);
        }
    }
    return tag;
}

} // namespace

ResultTraces result_traces(const OutputFrame& result, const SigProcKeys& keys) {
    ResultTraces out;
    std::vector<std::string> done; // the product of each tag
    for (const TraceTag& wanted : keys.tags) {
        const auto same = std::find(done.begin(), done.end(), wanted.product);
        if (same != done.end()) {
            out.tags.push_back(out.tags[static_cast<std::size_t>(same - done.begin())]);
        } else {
            const auto found =
                std::find_if(result.traces.begin(), result.traces.end(),
                             [&](const OutputTraces& traces) { return traces.tag == wanted.product; });
            if (found == result.traces.end()) {
                throw Error(ErrorKind::Internal,
                            {.what = "the result lacks a product", .seen = wanted.product});
            }
            const bool is_charge = wanted.product == "signal" || wanted.product == "wiener";
            out.tags.push_back(append(*found, !is_charge || keys.save_negative_charge, out.traces));
        }
        out.tags.back().tag = wanted.tag;
        done.push_back(wanted.product);
    }
    return out;
}

} // namespace spng::wirecell
