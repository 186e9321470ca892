// SPDX-License-Identifier: Apache-2.0
#include "python/bindings/frames.h"

#include "python/bindings/arrays.h"
#include "spng/core/error.h"
#include "spng/io/frame_parts.h"
#include "spng/pipeline/output_frame.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <utility>
#include <vector>

namespace nb = nanobind;
using namespace nanobind::literals;

namespace spng::python {

namespace {

nb::object python_type(const char* name) {
    return nb::module_::import_("spng.frame").attr(name);
}

[[noreturn]] void reject(const std::string& where, const char* what, std::string seen, std::string expected) {
    throw Error(ErrorKind::Input,
                {.what = what, .where = where, .seen = std::move(seen), .expected = std::move(expected)});
}

/// Return a member of a Python object.
/// @throws Error(Input) if it has another type
template <typename Value>
Value member(nb::handle object, const char* name, const std::string& where, const char* expected) {
    const nb::object found = nb::getattr(object, name, nb::none());
    Value value{};
    if (!nb::try_cast(found, value)) {
        reject(where, "a member of the event has the wrong type",
               std::string(name) + " = " + nb::cast<std::string>(nb::repr(found)), expected);
    }
    return value;
}

/// A NumPy array, or on a device a DLPack capsule, that shares memory with the traces.
template <class Value>
nb::object array_of(const OutputTraces& traces, const void* data, std::vector<std::size_t> shape) {
    const nb::capsule owner(new std::shared_ptr<const void>(traces.owner), [](void* kept) noexcept {
        delete static_cast<std::shared_ptr<const void>*>(kept);
    });
    auto* const first = const_cast<Value*>(static_cast<const Value*>(data)); // the result is the caller's
    if (traces.cuda_device >= 0) {
        return nb::cast(nb::ndarray<Value>(first, shape.size(), shape.data(), owner, nullptr,
                                           nb::dtype<Value>(), nb::device::cuda::value, traces.cuda_device));
    }
    return nb::cast(nb::ndarray<nb::numpy, Value>(first, shape.size(), shape.data(), owner));
}

/// Return dense samples as an array, others as spng.SparseSamples.
nb::object samples_to_python(const OutputTraces& traces) {
    std::vector<std::size_t> shape{static_cast<std::size_t>(traces.channels),
                                   static_cast<std::size_t>(traces.ticks)};
    if (traces.is_sparse) {
        std::size_t values = 0;
        for (std::int64_t run = 0; run < traces.run_count; ++run) {
            values += static_cast<std::size_t>(traces.runs[run][2] - traces.runs[run][1]);
        }
        shape = {values};
    }
    nb::object values = traces.type == SampleType::int16
                            ? array_of<std::int16_t>(traces, traces.samples, shape)
                            : array_of<float>(traces, traces.samples, shape);
    if (!traces.is_sparse) {
        return values;
    }
    const nb::object runs =
        array_of<std::int32_t>(traces, traces.runs, {static_cast<std::size_t>(traces.run_count), 3});
    return python_type("SparseSamples")(runs.attr("astype")("int64"), values,
                                        nb::make_tuple(traces.channels, traces.ticks));
}

at::Tensor mask_array(const std::vector<ChannelRange>& ranges) {
    at::Tensor array = at::empty({static_cast<std::int64_t>(ranges.size()), 3}, at::kLong);
    auto* row = array.mutable_data_ptr<std::int64_t>();
    for (const ChannelRange& range : ranges) {
        *row++ = range.channel;
        *row++ = range.begin;
        *row++ = range.end;
    }
    return array;
}

/// Set the samples and return their count of rows.
std::int64_t take_samples(TaggedTraces& traces, nb::handle samples, const std::string& where) {
    if (!nb::isinstance(samples, python_type("SparseSamples"))) {
        traces.samples =
            samples_of(to_tensor(samples, where + ", samples"), where + ", samples").contiguous();
        return traces.samples.size(0);
    }
    const auto part = [&](const char* name) {
        return to_tensor(samples.attr(name), where + ", samples." + name);
    };
    traces.sparse = std::make_shared<const SparseSamples>(
        sparse_samples_of({part("runs"), part("values"), part("shape")}, [&](MemberKind kind) {
            return where + ", samples." + std::string(kind_name(kind));
        }));
    return traces.sparse->rows;
}

TaggedTraces to_traces(nb::handle object, const std::string& tag, const std::string& where) {
    TaggedTraces traces;
    traces.tag = member<std::string>(object, "tag", where, "the tag of the traces");
    if (traces.tag != tag) {
        reject(where, "the traces have another tag", "'" + traces.tag + "'", "'" + tag + "', their key");
    }
    const std::int64_t rows = take_samples(traces, object.attr("samples"), where);
    traces.channels =
        channels_of(to_tensor(object.attr("channels"), where + ", channels"), where + ", channels");
    const auto require_rows = [&](const char* name, std::int64_t count) {
        if (count != rows) {
            reject(where, "the arrays of the event do not match", std::to_string(count) + " " + name,
                   std::to_string(rows) + ", the rows of the samples");
        }
    };
    require_rows("channels", static_cast<std::int64_t>(traces.channels.size()));
    const TickInfo ticks = tick_info_of(
        at::tensor({member<double>(object, "start_ns", where, "a number [ns]"),
                    member<double>(object, "tick_ns", where, "a number [ns]"),
                    static_cast<double>(member<int>(object, "first_tick", where, "an integer of 32 bits"))},
                   at::kDouble),
        where);
    traces.start_ns = ticks.start_ns;
    traces.tick_ns = ticks.tick_ns;
    traces.first_tick = ticks.first_tick;
    if (const nb::object summary = object.attr("summary"); !summary.is_none()) {
        traces.summary = summary_of(to_tensor(summary, where + ", summary"), where + ", summary");
        require_rows("values in the summary", traces.summary->numel());
    }
    return traces;
}

Frame take(nb::handle object, const std::string& where) {
    if (!nb::isinstance(object, python_type("Frame"))) {
        reject(where, "this is no event", nb::cast<std::string>(nb::repr(object.type())), "spng.Frame");
    }
    Frame frame;
    frame.ident = member<int>(object, "ident", where, "an integer of 32 bits");
    const std::string event = where + ", event " + std::to_string(frame.ident);
    const auto part = [&event](const char* what, const std::string& name) {
        return std::string(event).append(what).append("'").append(name).append("'");
    };
    for (const auto& [tag, traces] : member<nb::dict>(object, "traces", event, "a dictionary by tag")) {
        const auto name = nb::cast<std::string>(nb::str(tag));
        frame.traces.push_back(to_traces(traces, name, part(", tag ", name)));
    }
    if (frame.traces.empty()) {
        reject(event, "the event has no traces", "no tag", "at least one tag");
    }
    for (const auto& [key, mask] : member<nb::dict>(object, "masks", event, "a dictionary by name")) {
        const auto name = nb::cast<std::string>(nb::str(key));
        const std::string position = part(", mask ", name);
        frame.channel_masks[name] = channel_ranges_of(to_tensor(mask, position), position);
    }
    frame.notes = member<Notes>(object, "notes", event, "a dictionary of strings");
    return frame;
}

} // namespace

nb::object to_python(const OutputFrame& frame) {
    const nb::object traces_type = python_type("Traces");
    nb::dict traces;
    for (const OutputTraces& each : frame.traces) {
        traces[nb::str(each.tag.c_str(), each.tag.size())] = traces_type(
            "tag"_a = each.tag, "samples"_a = samples_to_python(each),
            "channels"_a = to_numpy(at::tensor(each.channel_ids, at::kInt)), "tick_ns"_a = each.tick_ns,
            "start_ns"_a = each.start_ns, "first_tick"_a = each.first_tick,
            "summary"_a =
                each.summary.empty() ? nb::none() : to_numpy(at::tensor(each.summary, at::kDouble)));
    }
    nb::dict masks;
    for (const auto& [name, ranges] : frame.masks) {
        masks[nb::str(name.c_str(), name.size())] = to_numpy(mask_array(ranges));
    }
    return python_type("Frame")("traces"_a = traces, "ident"_a = frame.ident, "masks"_a = masks,
                                "notes"_a = frame.notes);
}

nb::object to_python(Frame frame) {
    return to_python(output_frame(std::move(frame), OutputForm::as_it_is));
}

Frame to_frame(nb::handle frame, const std::string& where) {
    try {
        return take(frame, where);
    } catch (const Error& error) {
        ErrorText text = error.text();
        text.hint.clear(); // those of the checks are for files
        throw Error(error.kind(), std::move(text));
    }
}

} // namespace spng::python
