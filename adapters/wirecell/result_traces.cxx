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
ResultTag append(const OutputTraces& from, bool keeps_negative, float scale, std::vector<ResultTrace>& to) {
    ResultTag tag;
    const auto add = [&](std::int64_t row, std::int64_t first_tick, std::vector<float> samples) {
        const auto index = static_cast<std::size_t>(row);
        tag.traces.push_back(to.size());
        to.push_back(
            {from.channel_ids[index], static_cast<int>(from.first_tick + first_tick), std::move(samples)});
        if (!from.summary.empty()) {
            tag.summary.push_back(from.summary[index]);
        }
    };
    const auto samples = [&](std::int64_t begin, std::int64_t end) {
        auto values = samples_of(from, begin, end);
        for (float& value : values) {
            value = keeps_negative || value > 0 ? scale * value : 0;
        }
        return values;
    };
    if (from.is_sparse) {
        std::int64_t begin = 0;
        for (std::int64_t run = 0; run < from.run_count; ++run) {
            const auto& [row, first, last] = from.runs[run];
            auto values = samples(begin, begin + (last - first));
            begin += last - first;
            if (keeps_negative) {
                add(row, first, std::move(values));
                continue;
            }
            // As OSP: what is 0 after the negative samples became 0 is in no run.
            const auto is_zero = [](float value) { return value == 0; };
            for (auto at = std::find_if_not(values.begin(), values.end(), is_zero); at != values.end();) {
                const auto end = std::find_if(at, values.end(), is_zero);
                add(row, first + (at - values.begin()), {at, end});
                at = std::find_if_not(end, values.end(), is_zero);
            }
        }
    } else {
        for (std::int64_t row = 0; row < from.channels; ++row) {
            add(row, 0, samples(row * from.ticks, (row + 1) * from.ticks));
        }
    }
    return tag;
}

} // namespace

ResultTraces result_traces(const OutputFrame& result, const SigProcKeys& keys) {
    ResultTraces out;
    for (const TraceTag& wanted : keys.tags) {
        const auto same = std::find_if(keys.tags.begin(), keys.tags.end(), [&](const TraceTag& other) {
            return other.product == wanted.product && other.scale == wanted.scale;
        });
        if (const auto index = static_cast<std::size_t>(same - keys.tags.begin()); index < out.tags.size()) {
            out.tags.push_back(out.tags[index]);
        } else {
            const auto found =
                std::find_if(result.traces.begin(), result.traces.end(),
                             [&](const OutputTraces& traces) { return traces.tag == wanted.product; });
            if (found == result.traces.end()) {
                throw Error(ErrorKind::Internal,
                            {.what = "the result lacks a product", .seen = wanted.product});
            }
            const bool is_charge = wanted.product == "signal" || wanted.product == "wiener";
            out.tags.push_back(
                append(*found, !is_charge || keys.save_negative_charge, wanted.scale, out.traces));
            out.start_ns = found->start_ns;
            out.tick_ns = found->tick_ns;
        }
        out.tags.back().tag = wanted.tag;
    }
    return out;
}

} // namespace spng::wirecell
