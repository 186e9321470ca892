// SPDX-License-Identifier: Apache-2.0
#include "python/bindings/output_frames.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace spng::python {
SampleType type_of(const Array& samples) {
    const nb::dlpack::dtype type = samples.dtype();
    if (type == nb::dtype<std::int16_t>()) {
        return SampleType::int16;
    }
    if (type == nb::dtype<std::uint16_t>()) {
        return SampleType::uint16;
    }
    if (type == nb::dtype<std::int32_t>()) {
        return SampleType::int32;
    }
    if (type == nb::dtype<std::int64_t>()) {
        return SampleType::int64;
    }
    return type == nb::dtype<float>() ? SampleType::float32
                                      : SampleType::float64; // pipeline.py admits no other
}

ChannelMasks masks_from(const Masks& given) {
    ChannelMasks masks;
    for (const auto& [name, ranges] : given) {
        for (const auto& [channel, begin, end] : ranges) {
            masks[name].push_back({channel, begin, end});
        }
    }
    return masks;
}

namespace {

/// A NumPy array, or on a device an object with __dlpack__, that shares memory with the traces.
template <class Value>
nb::object array_of(const OutputTraces& traces, const void* data, std::vector<std::size_t> shape) {
    const nb::capsule owner(new std::shared_ptr<const void>(traces.owner), [](void* kept) noexcept {
        delete static_cast<std::shared_ptr<const void>*>(kept);
    });
    auto* const first = static_cast<Value*>(const_cast<void*>(data)); // the result is the caller's
    if (traces.cuda_device >= 0) {
        return nb::cast(nb::ndarray<Value>(first, shape.size(), shape.data(), owner, nullptr,
                                           nb::dtype<Value>(), nb::device::cuda::value, traces.cuda_device));
    }
    return nb::cast(nb::ndarray<nb::numpy, Value>(first, shape.size(), shape.data(), owner));
}

nb::object samples_of(const OutputTraces& traces) {
    std::vector<std::size_t> shape{static_cast<std::size_t>(traces.channels),
                                   static_cast<std::size_t>(traces.ticks)};
    if (traces.is_sparse) {
        std::size_t values = 0;
        for (std::int64_t run = 0; run < traces.run_count; ++run) {
            values += static_cast<std::size_t>(traces.runs[run][2] - traces.runs[run][1]);
        }
        shape = {values};
    }
    return traces.type == SampleType::int16 ? array_of<std::int16_t>(traces, traces.samples, shape)
                                            : array_of<float>(traces, traces.samples, shape);
}

nb::dict dict_of(const OutputTraces& traces) {
    nb::dict result;
    result["tag"] = traces.tag;
    result["samples"] = samples_of(traces);
    result["shape"] = nb::make_tuple(traces.channels, traces.ticks);
    result["runs"] =
        traces.is_sparse
            ? array_of<std::int32_t>(traces, traces.runs, {static_cast<std::size_t>(traces.run_count), 3})
            : nb::none();
    result["channels"] = traces.channel_ids;
    result["start_ns"] = traces.start_ns;
    result["tick_ns"] = traces.tick_ns;
    result["first_tick"] = traces.first_tick;
    result["summary"] = traces.summary;
    return result;
}

} // namespace

nb::dict dict_of(const OutputFrame& frame) {
    nb::list traces;
    for (const OutputTraces& each : frame.traces) {
        traces.append(dict_of(each));
    }
    Masks masks;
    for (const auto& [name, ranges] : frame.masks) {
        for (const ChannelRange& range : ranges) {
            masks[name].emplace_back(range.channel, range.begin, range.end);
        }
    }
    nb::dict result;
    result["ident"] = frame.ident;
    result["traces"] = traces;
    result["masks"] = masks;
    result["notes"] = frame.notes;
    result["waited_seconds"] = frame.waited_seconds;
    result["run_seconds"] = frame.run_seconds;
    return result;
}

} // namespace spng::python
