// SPDX-License-Identifier: Apache-2.0
#include "spng/pipeline/input_event.h"

#include "spng/core/error.h"
#include "spng/device/cuda_plugin.h"
#include "spng/io/frame.h"
#include "spng/io/frame_parts.h"
#include "spng/nodes/frame/frame_file_source.h"
#include "spng/pipeline/job_owner.h"

#include <ATen/ops/from_blob.h>

#include <cmath>
#include <unordered_set>
#include <utility>

namespace spng {
namespace {

constexpr const char* where = "input frame";

[[noreturn]] void reject(std::string what, std::string seen, std::string expected, std::string hint = {}) {
    throw Error(ErrorKind::Input, {.what = std::move(what),
                                   .where = where,
                                   .seen = std::move(seen),
                                   .expected = std::move(expected),
                                   .hint = std::move(hint)});
}

at::ScalarType scalar_type(SampleType type) {
    switch (type) {
    case SampleType::int16:
        return at::kShort;
    case SampleType::uint16:
        return at::kUInt16;
    case SampleType::int32:
        return at::kInt;
    case SampleType::int64:
        return at::kLong;
    case SampleType::float32:
        return at::kFloat;
    case SampleType::float64:
        return at::kDouble;
    }
    reject("unknown type of samples", std::to_string(static_cast<int>(type)), "a value of SampleType");
}

at::Device device_of(const InputFrame& frame) {
    if (frame.cuda_device < 0) {
        return at::kCPU;
    }
    if (frame.cuda_device >= cuda_device_count()) {
        reject("the samples are on a device that does not exist", "cuda:" + std::to_string(frame.cuda_device),
               std::to_string(cuda_device_count()) + " CUDA devices");
    }
    return {at::kCUDA, static_cast<c10::DeviceIndex>(frame.cuda_device)};
}

std::string shape_of(const InputFrame& frame) {
    return "(" + std::to_string(frame.channels) + ", " + std::to_string(frame.ticks) + ")";
}

std::vector<int> channel_ids_of(InputFrame& frame, const ExpectedFrame& expected) {
    if (frame.channel_ids.empty()) {
        if (static_cast<std::int64_t>(expected.channels.size()) != frame.channels) {
            reject("the frame has another count of channels than the anodes of the pipeline",
                   "samples of shape " + shape_of(frame) + " without channel ids",
                   std::to_string(expected.channels.size()) + " channels",
                   "give the channel ids of the rows");
        }
        return expected.channels;
    }
    if (static_cast<std::int64_t>(frame.channel_ids.size()) != frame.channels) {
        reject("channel ids and samples do not fit together",
               std::to_string(frame.channel_ids.size()) + " channel ids, samples of shape " + shape_of(frame),
               "one channel id for each row of (channel, tick)");
    }
    std::unordered_set<int> seen;
    for (const int channel : frame.channel_ids) {
        if (!seen.insert(channel).second) {
            reject("a channel is repeated", "channel " + std::to_string(channel) + " twice",
                   "different channel ids");
        }
    }
    return std::move(frame.channel_ids);
}

void check(const InputFrame& frame) {
    if (frame.channels < 1 || frame.ticks < 1 || frame.channels > max_samples / frame.ticks) {
        reject("the shape of the samples is impossible", shape_of(frame),
               "(channel, tick), at least one of each, at most " + std::to_string(max_samples) + " samples");
    }
    if (frame.samples == nullptr) {
        reject("the frame has no samples", "a null pointer", "the address of (channel, tick) samples");
    }
    if (!(frame.tick_ns >= 0) || !std::isfinite(frame.tick_ns) || !std::isfinite(frame.start_ns)) {
        reject("the times of the frame are impossible",
               "start " + std::to_string(frame.start_ns) + " ns, tick " + std::to_string(frame.tick_ns) +
                   " ns",
               "a finite start, and a sampling period above 0");
    }
    for (const auto& [name, ranges] : frame.masks) {
        for (const ChannelRange& range : ranges) {
            constexpr std::int64_t last = std::numeric_limits<std::int32_t>::max();
            if (range.begin < -last || range.end > last) {
                reject("a channel mask has impossible ticks",
                       "mask '" + name + "', channel " + std::to_string(range.channel) + ", ticks " +
                           std::to_string(range.begin) + " to " + std::to_string(range.end),
                       "ticks of the readout");
            }
            if (range.end < range.begin) {
                reject("a channel mask ends before it begins",
                       "mask '" + name + "', channel " + std::to_string(range.channel) + ", ticks " +
                           std::to_string(range.begin) + " to " + std::to_string(range.end),
                       "an end not before the begin");
            }
        }
    }
}

} // namespace

QueuedEvent event_of(InputFrame frame, const ExpectedFrame& expected) {
    check(frame);
    Frame content;
    content.ident = frame.ident;
    TaggedTraces& traces = content.traces.emplace_back();
    traces.tag = expected.tag;
    traces.channels = channel_ids_of(frame, expected);
    traces.start_ns = frame.start_ns;
    traces.tick_ns = frame.tick_ns > 0 ? frame.tick_ns : expected.tick_ns;
    traces.first_tick = frame.first_tick;
    if (traces.tick_ns <= 0) {
        reject("the sampling period of the frame is unknown", "none", "tick_ns, above 0 [ns]");
    }
    const at::Device device = device_of(frame);
    // ATen does not write into samples of events.
    const at::Tensor samples = at::from_blob(
        const_cast<void*>(frame.samples), {frame.channels, frame.ticks},
        [owner = std::move(frame.owner)](void*) mutable {
            const InCallback in_callback; // the caller's code, on a thread of the job
            owner.reset();
        },
        at::TensorOptions(scalar_type(frame.type)).device(device), device);
    traces.samples = samples_of(samples, where);
    content.channel_masks = std::move(frame.masks);
    const TensorSetPtr set = set_from(std::move(content), 0);
    return {std::make_shared<EventInfo>(set->event()), set->tensors()};
}

} // namespace spng
