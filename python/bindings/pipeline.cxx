// SPDX-License-Identifier: Apache-2.0
// The Pipeline object (WireCellSpng/Pipeline.h) for python/spng/pipeline.py, which has the public classes.

#include "python/bindings/bindings.h"

#include "WireCellSpng/Pipeline.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <future>
#include <memory>
#include <tuple>
#include <utility>

namespace nb = nanobind;

namespace spng::python {
namespace {

using Array = nb::ndarray<nb::ro, nb::c_contig, nb::ndim<2>>;
using Masks = std::map<std::string, std::vector<std::tuple<int, std::int64_t, std::int64_t>>>;

/// Keep a Python object for as long as the result lives. It may be released on any thread.
template <class Object>
std::shared_ptr<const void> owner_of(Object object) {
    return {new Object(std::move(object)), [](Object* kept) {
                if (Py_IsInitialized() != 0) {
                    const nb::gil_scoped_acquire gil;
                    delete kept;
                }
            }};
}

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
    return type == nb::dtype<float>() ? SampleType::float32 : SampleType::float64; // pipeline.py admits no other
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

/// A NumPy array, or on a device an object with __dlpack__, that shares memory with the traces.
template <class Value>
nb::object array_of(const OutputTraces& traces, const void* data, std::vector<std::size_t> shape) {
    const nb::capsule owner(new std::shared_ptr<const void>(traces.owner), [](void* kept) noexcept {
        delete static_cast<std::shared_ptr<const void>*>(kept);
    });
    auto* const first = static_cast<Value*>(const_cast<void*>(data)); // the result is the caller's
    if (traces.cuda_device >= 0) {
        return nb::cast(nb::ndarray<Value>(first, shape.size(), shape.data(), owner, nullptr, nb::dtype<Value>(),
                                           nb::device::cuda::value, traces.cuda_device));
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
    result["runs"] = traces.is_sparse
                         ? array_of<std::int32_t>(traces, traces.runs, {static_cast<std::size_t>(traces.run_count), 3})
                         : nb::none();
    result["channels"] = traces.channel_ids;
    result["start_ns"] = traces.start_ns;
    result["tick_ns"] = traces.tick_ns;
    result["first_tick"] = traces.first_tick;
    result["summary"] = traces.summary;
    return result;
}

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

/// The result of a queued frame.
class Pending {
public:
    explicit Pending(std::future<OutputFrame> future) : m_future(std::move(future)) {}

    /// Wait without the GIL. Handlers of signals run meanwhile, so that Ctrl-C raises KeyboardInterrupt.
    /// @return whether the result is there
    bool wait(double seconds) {
        const auto begin = std::chrono::steady_clock::now();
        const auto slice = std::chrono::milliseconds(50);
        while (true) {
            const double left =
                seconds - std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
            bool is_ready = false;
            {
                const nb::gil_scoped_release no_gil;
                is_ready = m_future.wait_for(std::min<std::chrono::duration<double>>(
                               slice, std::chrono::duration<double>(std::max(0.0, left)))) ==
                           std::future_status::ready;
            }
            if (PyErr_CheckSignals() != 0) {
                throw nb::python_error();
            }
            if (is_ready || left <= 0) {
                return is_ready;
            }
        }
    }

    nb::dict result() {
        OutputFrame frame;
        {
            const nb::gil_scoped_release no_gil;
            frame = m_future.get();
        }
        return dict_of(frame);
    }

private:
    std::future<OutputFrame> m_future;
};

/// A Pipeline that waits for its threads without the GIL, which they may need for log lines.
class PythonPipeline {
public:
    explicit PythonPipeline(const PipelineOptions& options) {
        const nb::gil_scoped_release no_gil;
        m_pipeline = std::make_unique<Pipeline>(options);
    }
    ~PythonPipeline() {
        const nb::gil_scoped_release no_gil;
        m_pipeline.reset();
    }
    PythonPipeline(const PythonPipeline&) = delete;
    PythonPipeline& operator=(const PythonPipeline&) = delete;

    Pending submit(const Array& samples, std::vector<int> channels, int ident, double start_ns, double tick_ns,
                   int first_tick, const Masks& masks) {
        InputFrame frame;
        frame.samples = samples.data();
        frame.type = type_of(samples);
        frame.channels = static_cast<std::int64_t>(samples.shape(0));
        frame.ticks = static_cast<std::int64_t>(samples.shape(1));
        frame.channel_ids = std::move(channels);
        frame.ident = ident;
        frame.start_ns = start_ns;
        frame.tick_ns = tick_ns;
        frame.first_tick = first_tick;
        frame.masks = masks_from(masks);
        frame.cuda_device = samples.device_type() == nb::device::cuda::value ? samples.device_id() : -1;
        frame.owner = owner_of(samples);
        const nb::gil_scoped_release no_gil;
        return Pending(m_pipeline->submit(std::move(frame)));
    }

    void close() {
        const nb::gil_scoped_release no_gil;
        m_pipeline->close();
    }
    std::string timing_json() {
        const nb::gil_scoped_release no_gil;
        return m_pipeline->timing_json();
    }
    std::string timing_text(std::size_t width) {
        const nb::gil_scoped_release no_gil;
        return m_pipeline->timing_text(width);
    }
    const Pipeline& pipeline() const { return *m_pipeline; }

private:
    std::unique_ptr<Pipeline> m_pipeline;
};

nb::list planes_of(const PythonPipeline& pipeline) {
    nb::list planes;
    for (const PlaneChannels& plane : pipeline.pipeline().planes()) {
        planes.append(nb::make_tuple(plane.anode, plane.plane, plane.channel_ids));
    }
    return planes;
}

void set_handler(nb::object handler, const std::string& level) {
    if (handler.is_none()) {
        const nb::gil_scoped_release no_gil;
        set_log_handler({}, level);
        return;
    }
    const auto kept = std::static_pointer_cast<const nb::object>(owner_of(std::move(handler)));
    const nb::gil_scoped_release no_gil;
    set_log_handler(
        [kept](const std::string& line_level, const std::string& logger, const std::string& text) {
            if (Py_IsInitialized() == 0) {
                return;
            }
            const nb::gil_scoped_acquire gil;
            try {
                (*kept)(line_level, logger, text);
            } catch (nb::python_error& error) {
                error.discard_as_unraisable("log handler of spng");
            }
        },
        level);
}

} // namespace

void bind_pipeline(nb::module_& module) {
    nb::class_<Pending>(module, "Pending").def("wait", &Pending::wait).def("result", &Pending::result);
    nb::class_<PipelineOptions>(module, "PipelineOptions")
        .def(nb::init<>())
        .def_rw("detector", &PipelineOptions::detector)
        .def_rw("anodes", &PipelineOptions::anodes)
        .def_rw("model", &PipelineOptions::model)
        .def_rw("device", &PipelineOptions::device)
        .def_rw("tags", &PipelineOptions::tags)
        .def_rw("sparse", &PipelineOptions::sparse)
        .def_rw("arguments", &PipelineOptions::arguments)
        .def_rw("configuration", &PipelineOptions::configuration)
        .def_rw("results_on_device", &PipelineOptions::results_on_device)
        .def_rw("queue_size", &PipelineOptions::queue_size);
    nb::class_<PythonPipeline>(module, "Pipeline")
        .def(nb::init<const PipelineOptions&>())
        .def("submit", &PythonPipeline::submit)
        .def("close", &PythonPipeline::close)
        .def("is_closed", [](const PythonPipeline& self) { return self.pipeline().is_closed(); })
        .def("devices", [](const PythonPipeline& self) { return self.pipeline().devices(); })
        .def("tick_ns", [](const PythonPipeline& self) { return self.pipeline().tick_ns(); })
        .def("planes", &planes_of)
        .def("timing_json", &PythonPipeline::timing_json)
        .def("timing_text", &PythonPipeline::timing_text);
    module.def("set_log_handler", &set_handler, nb::arg("handler").none(), nb::arg("level"));
    module.def("set_strict", &set_strict);
    module.def("add_search_folder", &add_search_folder);
}

} // namespace spng::python
