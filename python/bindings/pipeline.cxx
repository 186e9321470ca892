// SPDX-License-Identifier: Apache-2.0
// The Pipeline object (WireCellSpng/Pipeline.h) for python/spng/pipeline.py, which has the public classes.

#include "python/bindings/bindings.h"
#include "python/bindings/frames.h"
#include "spng/pipeline/job_owner.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace nb = nanobind;

namespace spng::python {
namespace {

/// Samples (channel, tick) of NumPy or torch.
using Array = nb::ndarray<nb::ro, nb::c_contig, nb::ndim<2>>;

/// Channel masks by name: (channel, begin tick, end tick).
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

/// The result of a queued frame.
class Pending {
public:
    explicit Pending(std::future<OutputFrame> future) : m_future(std::move(future)) {}

    /// Wait without the GIL. Handlers of signals run meanwhile, so that Ctrl-C raises KeyboardInterrupt.
    /// @return whether the result is there
    /// @throws Error(Usage) in another process, and for a time in a callback
    bool wait(double seconds) {
        m_process.require();
        if (seconds > 0) {
            m_process.require_no_callback();
        }
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

    nb::object result() {
        OutputFrame frame;
        {
            const nb::gil_scoped_release no_gil;
            frame = m_future.get();
        }
        return to_python(frame);
    }

private:
    MakingProcess m_process{"the result"};
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

    Pending submit(const Array& samples, std::vector<int> channels, int ident, double start_ns,
                   double tick_ns, int first_tick, const Masks& masks) {
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
    bool is_of_other_process() const { return m_process.is_other(); }
    const Pipeline& pipeline() const { return *m_pipeline; }

private:
    MakingProcess m_process{"the pipeline"};
    std::unique_ptr<Pipeline> m_pipeline;
};

std::vector<std::string> bytes_of(const std::vector<Text>& strings) {
    std::vector<std::string> found;
    std::ranges::transform(strings, std::back_inserter(found), &Text::bytes);
    return found;
}

/// Set the members that may be, or may contain, paths of any bytes.
void set_strings(PipelineOptions& options, const Text& detector, const Text& model, const Text& device,
                 const Text& configuration, const std::vector<Text>& tags, const std::vector<Text>& changes,
                 const std::map<std::string, Text>& arguments) {
    options.detector = detector.bytes;
    options.model = model.bytes;
    options.device = device.bytes;
    options.configuration = configuration.bytes;
    options.tags = bytes_of(tags);
    options.changes = bytes_of(changes);
    options.arguments = strings_of(arguments);
}

nb::list planes_of(const PythonPipeline& pipeline) {
    nb::list planes;
    for (const PlaneChannels& plane : pipeline.pipeline().planes()) {
        planes.append(nb::make_tuple(plane.anode, plane.plane, plane.channel_ids));
    }
    return planes;
}

/// Raise an exception again as soon as the main thread runs code of Python. With 32 such exceptions waiting it is lost.
void raise_later(const nb::python_error& error) {
    auto* const kept = new nb::python_error(error);
    const auto raise = [](void* pointer) {
        const std::unique_ptr<nb::python_error> own(static_cast<nb::python_error*>(pointer));
        own->restore();
        return -1;
    };
    if (Py_AddPendingCall(raise, kept) != 0) {
        delete kept;
    }
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
                if (error.matches(PyExc_KeyboardInterrupt)) { // of a signal, not of the line
                    raise_later(error);
                } else {
                    error.discard_as_unraisable("log handler of spng");
                }
            }
        },
        level);
}

} // namespace

void bind_pipeline(nb::module_& module) {
    nb::class_<Pending>(module, "Pending").def("wait", &Pending::wait).def("result", &Pending::result);
    nb::class_<PipelineOptions>(module, "PipelineOptions")
        .def(nb::init<>())
        .def("set_strings", &set_strings)
        .def_rw("anodes", &PipelineOptions::anodes)
        .def_rw("sparse", &PipelineOptions::sparse)
        .def_rw("results_on_device", &PipelineOptions::results_on_device)
        .def_rw("queue_size", &PipelineOptions::queue_size);
    nb::class_<PythonPipeline>(module, "Pipeline")
        .def(nb::init<const PipelineOptions&>())
        .def("submit", &PythonPipeline::submit)
        .def("close", &PythonPipeline::close)
        .def("is_of_other_process", &PythonPipeline::is_of_other_process)
        .def("is_closed", [](const PythonPipeline& self) { return self.pipeline().is_closed(); })
        .def("devices", [](const PythonPipeline& self) { return self.pipeline().devices(); })
        .def("tick_ns", [](const PythonPipeline& self) { return self.pipeline().tick_ns(); })
        .def("planes", &planes_of)
        .def("timing_json", &PythonPipeline::timing_json)
        .def("timing_text", &PythonPipeline::timing_text);
    module.def("set_log_handler", &set_handler, nb::arg("handler").none(), nb::arg("level"));
    module.def("set_strict", &set_strict);
}

} // namespace spng::python
