// SPDX-License-Identifier: Apache-2.0
// A phlex observer for tests: writes the samples of each tag to FOLDER/IDENT-TAG.bin, the ROIs of sparse frames to
// IDENT-TAG.runs, the summary to IDENT-TAG.summary, and masks and error to IDENT.txt.
#include "spng_phlex/frame_products.h"

#include <phlex/module.hpp>

#include <cstdint>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

namespace {

void write(const std::string& path, const void* data, std::int64_t bytes) {
    std::ofstream(path, std::ios::binary).write(static_cast<const char*>(data), bytes);
}

std::int64_t sample_count(const spng::OutputTraces& traces) {
    std::int64_t count = traces.is_sparse ? 0 : traces.channels * traces.ticks;
    for (std::int64_t run = 0; run < traces.run_count; ++run) {
        count += traces.runs[run][2] - traces.runs[run][1];
    }
    return count;
}

void write_frame(const std::string& folder, const spng::SignalFrame& frame) {
    const std::string stem = folder + "/" + std::to_string(frame.ident);
    for (const spng::OutputTraces& traces : frame.traces) {
        const std::string path = stem + "-" + traces.tag;
        const std::int64_t bytes = traces.type == spng::SampleType::int16 ? 2 : 4;
        write(path + ".bin", traces.samples, sample_count(traces) * bytes);
        write(path + ".runs", traces.runs, traces.run_count * 12);
        write(path + ".summary", traces.summary.data(), static_cast<std::int64_t>(traces.summary.size()) * 8);
    }
    std::ofstream text(stem + ".txt");
    for (const auto& [name, ranges] : frame.masks) {
        for (const spng::ChannelRange& range : ranges) {
            text << name << ' ' << range.channel << ' ' << range.begin << ' ' << range.end << '\n';
        }
    }
    text << frame.error;
}

} // namespace

PHLEX_REGISTER_ALGORITHMS(module, config) {
    const auto folder = config.get<std::string>("folder");
    module.observe("write", [folder](const spng::SignalFrame& frame) { write_frame(folder, frame); })
        .input_family(phlex::product_selector{.creator = "spng", .layer = "event", .suffix = "signal"});
}
