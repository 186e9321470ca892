// SPDX-License-Identifier: Apache-2.0
#include "spng/engine/device_section.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/log/log.h"
#include "spng/device/context.h"
#include "spng/device/memory/out_of_memory.h"
#include "spng/instrument/meter/unmeasured.h"

#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>

namespace spng {
namespace {

const Registration<DeviceSection> registration{
    {.type = "SPNGDeviceSection",
     .kind = "plumbing",
     .inputs = {"*"},
     .outputs = {"*"},
     .text =
         "runs the device nodes of a graph as one launch; inserted by cuda_graph, not by configurations"}};

constexpr const char* logger = "cuda_graph";

std::vector<std::string> numbered(const char* name, std::size_t count) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) {
        names.push_back(name + std::to_string(i));
    }
    return names;
}

c10::Stream current_stream(c10::Device device) {
    return c10::impl::VirtualGuardImpl(device.type()).getStream(device);
}

} // namespace

void DeviceSection::enclose(const Graph& graph, GraphSection section, instrument::MeterMode mode,
                            std::size_t slots) {
    m_graph = &graph;
    m_section = std::move(section);
    m_mode = mode;
    m_slots = slots;
}

std::vector<std::string> DeviceSection::input_ports() const {
    return numbered("in", m_section.entering.size());
}

std::vector<std::string> DeviceSection::output_ports() const {
    return numbered("out", m_section.leaving.size());
}

void DeviceSection::prepare_node(Environment&) {
    if (m_graph == nullptr) {
        throw Error(ErrorKind::Configuration, {.what = "a configuration cannot contain this node",
                                               .seen = registered().type,
                                               .expected = "the nodes of the section",
                                               .hint = "-A cuda_graph=on inserts it"});
    }
}

Ports DeviceSection::call_one_by_one(const Ports& inputs, instrument::MeterMode mode) const {
    std::vector<TensorSetPtr> on_edge(m_graph->edges().size());
    for (std::size_t port = 0; port < inputs.size(); ++port) {
        on_edge[m_section.entering[port]] = inputs[port];
    }
    const std::uint64_t event = instrument::current_call().event;
    for (const std::size_t index : m_section.vertices) {
        const auto& vertex = m_graph->vertices()[index];
        Ports in;
        for (const std::size_t edge : vertex.input_edges) {
            in.push_back(std::move(on_edge[edge]));
        }
        Ports out = vertex.node->call(event, in, mode);
        for (std::size_t port = 0; port < vertex.output_edges.size(); ++port) {
            on_edge[vertex.output_edges[port]] = std::move(out.at(port));
        }
    }
    Ports outputs;
    for (const std::size_t edge : m_section.leaving) {
        outputs.push_back(std::move(on_edge[edge]));
    }
    return outputs;
}

std::unique_ptr<DeviceSection::Capture> DeviceSection::capture(const Ports& inputs) {
    NVTX_SCOPED_RANGE("DeviceSection::record");
    auto made = std::make_unique<Capture>(inputs);
    made->graph = make_device_graph(context().device());
    instrument::MeterMode mode = m_mode;
    mode.device_events = false;
    // The graph may keep the work, so it refers to nothing of this call. The outputs of its first call are not
    // kept, so that their memory is free for the capture.
    const auto outputs = std::make_shared<Ports>();
    const auto calls = std::make_shared<int>(0);
    made->graph->capture([this, outputs, calls, mode, source = made.get()] {
        const instrument::Unmeasured unmeasured;
        Ports sets = call_one_by_one(source->inputs.ports(), mode);
        std::vector<at::Tensor> tensors = tensors_of(sets);
        if (++*calls == 2) {
            *outputs = std::move(sets);
        }
        return tensors;
    });
    made->outputs.emplace(made->inputs.ports(), *outputs);
    if (!made->outputs->rejection().empty()) {
        throw Error(ErrorKind::Internal, {.what = made->outputs->rejection()});
    }
    return made;
}

DeviceSection::Shape& DeviceSection::shape_of(const std::string& key) {
    const bool is_new = !m_shapes.contains(key);
    if (is_new && m_shapes.size() >= max_shapes) {
        const auto is_droppable = [this](const Shape& shape) {
            const bool was_rejected = shape.slots < m_slots; // a new shape would be rejected again
            return !was_rejected && std::all_of(shape.captures.begin(), shape.captures.end(),
                                                [](const auto& capture) { return is_idle(*capture); });
        };
        auto oldest = m_shapes.end();
        for (auto it = m_shapes.begin(); it != m_shapes.end(); ++it) {
            const bool is_older = oldest == m_shapes.end() || it->second.last_use < oldest->second.last_use;
            oldest = is_older && is_droppable(it->second) ? it : oldest;
        }
        if (oldest != m_shapes.end()) {
            m_shapes.erase(oldest);
        }
    }
    Shape& shape = m_shapes.try_emplace(key, Shape{.slots = m_slots}).first->second;
    shape.last_use = m_requests++;
    return shape;
}

bool DeviceSection::is_idle(const Capture& capture) {
    // A thread that has taken the capture may be writing last_use.
    return !capture.is_taken && (!capture.last_use || capture.last_use->query());
}

DeviceSection::Capture* DeviceSection::free_capture(Shape& shape, bool idle_only) {
    for (const auto& capture : shape.captures) {
        if (idle_only ? is_idle(*capture) : !capture->is_taken) {
            capture->is_taken = true;
            return capture.get();
        }
    }
    return nullptr;
}

DeviceSection::Capture* DeviceSection::take(const std::string& key, const Ports& inputs) {
    // Held during a capture, so that there is one at a time.
    const std::lock_guard lock(m_mutex);
    Shape& shape = shape_of(key);
    if (!shape.was_called) {
        return nullptr;
    }
    Capture* const idle = free_capture(shape, true);
    if (idle != nullptr || shape.captures.size() >= shape.slots) {
        return idle != nullptr ? idle : free_capture(shape, false);
    }
    try {
        shape.captures.push_back(capture(inputs));
        log::info(logger, [&] {
            return "captured " + std::to_string(m_section.vertices.size()) + " nodes, copy " +
                   std::to_string(shape.captures.size()) + " of at most " + std::to_string(shape.slots);
        });
        return shape.captures.back().get();
    } catch (const std::exception& error) {
        shape.slots = shape.captures.size();
        log::warn(logger, std::string(shape.slots == 0 ? "events of this shape have no CUDA graph"
                                                       : "this shape has one CUDA graph") +
                              ", since a capture failed: " + without_trace(error.what()));
        return free_capture(shape, false);
    }
}

void DeviceSection::note_call(const std::string& key) {
    const std::lock_guard lock(m_mutex);
    shape_of(key).was_called = true;
}

void DeviceSection::give_back(Capture& capture) {
    const std::lock_guard lock(m_mutex);
    capture.is_taken = false;
}

Ports DeviceSection::replay(Capture& capture, const Ports& inputs) {
    NVTX_SCOPED_RANGE("DeviceSection::replay");
    const c10::Device device = context().device();
    if (capture.last_use) {
        capture.last_use->block(current_stream(device));
    }
    const auto note_use = [&] {
        if (!device.is_cpu()) {
            if (!capture.last_use) {
                capture.last_use.emplace(device.type());
            }
            capture.last_use->record(current_stream(device));
        }
    };
    capture.inputs.load(inputs);
    capture.graph->replay();
    note_use(); // before fill(), which may run out of memory while the launched work runs
    Ports outputs = capture.outputs->fill(inputs);
    note_use();
    return outputs;
}

Ports DeviceSection::process(const Ports& inputs) {
    const std::string key = port_key(inputs);
    Capture* const capture = take(key, inputs);
    if (capture == nullptr) {
        Ports outputs = call_one_by_one(inputs, m_mode);
        note_call(key);
        return outputs;
    }
    try {
        Ports outputs = replay(*capture, inputs);
        give_back(*capture);
        return outputs;
    } catch (...) {
        give_back(*capture);
        throw;
    }
}

} // namespace spng
