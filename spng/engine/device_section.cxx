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
     .text = "the nodes of a graph that work on the device, launched as one; made by cuda_graph, not by "
             "configurations"}};

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
        throw Error(ErrorKind::Configuration, {.what = "this node is not for configurations",
                                               .where = {},
                                               .seen = registered().type,
                                               .expected = "the nodes themselves",
                                               .hint = "-A cuda_graph=on puts it in"});
    }
}

Ports DeviceSection::call_one_by_one(const Ports& inputs, instrument::MeterMode mode) const {
    std::vector<TensorSetPtr> on_edge(m_graph->edges().size());
    for (std::size_t port = 0; port < inputs.size(); ++port) {
        on_edge[m_section.entering[port]] = inputs[port];
    }
    const std::uint64_t event = instrument::current_call().event;
    for (const std::size_t number : m_section.vertices) {
        const auto& vertex = m_graph->vertices()[number];
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

std::unique_ptr<DeviceSection::Recording> DeviceSection::record(const Ports& inputs) {
    NVTX_SCOPED_RANGE("DeviceSection::record");
    auto recording = std::make_unique<Recording>(inputs);
    recording->graph = make_device_graph(context().device());
    instrument::MeterMode mode = m_mode;
    mode.device_events = false;
    // The work may be kept, so it refers to nothing of this call. What it gives when it is called the first
    // time is not, since its memory is to be free for the recording.
    const auto outputs = std::make_shared<Ports>();
    const auto calls = std::make_shared<int>(0);
    recording->graph->capture([this, outputs, calls, mode, source = recording.get()] {
        const instrument::Unmeasured unmeasured;
        Ports given = call_one_by_one(source->inputs.ports(), mode);
        std::vector<at::Tensor> tensors = tensors_of(given);
        if (++*calls == 2) {
            *outputs = std::move(given);
        }
        return tensors;
    });
    recording->outputs.emplace(recording->inputs.ports(), *outputs);
    if (!recording->outputs->rejection().empty()) {
        throw Error(ErrorKind::Internal, {.what = recording->outputs->rejection()});
    }
    return recording;
}

DeviceSection::Shape& DeviceSection::shape_of(const std::string& key) {
    const bool is_new = !m_shapes.contains(key);
    if (is_new && m_shapes.size() >= max_shapes) {
        const auto is_forgettable = [this](const Shape& shape) {
            const bool was_rejected = shape.slots < m_slots; // or it would be tried again, and rejected again
            return !was_rejected && std::all_of(shape.recordings.begin(), shape.recordings.end(),
                                                [](const auto& recording) { return is_idle(*recording); });
        };
        auto oldest = m_shapes.end();
        for (auto it = m_shapes.begin(); it != m_shapes.end(); ++it) {
            const bool is_older =
                oldest == m_shapes.end() || it->second.last_asked < oldest->second.last_asked;
            oldest = is_older && is_forgettable(it->second) ? it : oldest;
        }
        if (oldest != m_shapes.end()) {
            m_shapes.erase(oldest);
        }
    }
    Shape& shape = m_shapes.try_emplace(key, Shape{.slots = m_slots}).first->second;
    shape.last_asked = m_asked++;
    return shape;
}

bool DeviceSection::is_idle(const Recording& recording) {
    // Whoever has taken it may be writing last_use.
    return !recording.is_taken && (!recording.last_use || recording.last_use->query());
}

DeviceSection::Recording* DeviceSection::free_recording(Shape& shape, bool idle_only) {
    for (const auto& recording : shape.recordings) {
        if (idle_only ? is_idle(*recording) : !recording->is_taken) {
            recording->is_taken = true;
            return recording.get();
        }
    }
    return nullptr;
}

DeviceSection::Recording* DeviceSection::take(const std::string& key, const Ports& inputs) {
    // Held while an event is recorded, so that one is recorded at a time.
    const std::lock_guard lock(m_mutex);
    Shape& shape = shape_of(key);
    if (!shape.was_called) {
        return nullptr;
    }
    Recording* const idle = free_recording(shape, true);
    if (idle != nullptr || shape.recordings.size() >= shape.slots) {
        return idle != nullptr ? idle : free_recording(shape, false);
    }
    try {
        shape.recordings.push_back(record(inputs));
        log::info(logger, [&] {
            return "recorded " + std::to_string(m_section.vertices.size()) + " nodes, copy " +
                   std::to_string(shape.recordings.size()) + " of at most " + std::to_string(shape.slots);
        });
        return shape.recordings.back().get();
    } catch (const std::exception& error) {
        shape.slots = shape.recordings.size();
        log::warn(logger, std::string(shape.slots == 0 ? "events of this shape are not launched as one"
                                                       : "there is one recording of this shape") +
                              ", since recording failed: " + without_trace(error.what()));
        return free_recording(shape, false);
    }
}

void DeviceSection::note_call(const std::string& key) {
    const std::lock_guard lock(m_mutex);
    shape_of(key).was_called = true;
}

void DeviceSection::give_back(Recording& recording) {
    const std::lock_guard lock(m_mutex);
    recording.is_taken = false;
}

Ports DeviceSection::replay(Recording& recording, const Ports& inputs) {
    NVTX_SCOPED_RANGE("DeviceSection::replay");
    const c10::Device device = context().device();
    if (recording.last_use) {
        recording.last_use->block(current_stream(device));
    }
    const auto note_use = [&] {
        if (!device.is_cpu()) {
            if (!recording.last_use) {
                recording.last_use.emplace(device.type());
            }
            recording.last_use->record(current_stream(device));
        }
    };
    recording.inputs.load(inputs);
    recording.graph->replay();
    note_use(); // before memory is asked for: should there be none, the launched work is still under way
    Ports outputs = recording.outputs->fill(inputs);
    note_use();
    ++m_replays;
    return outputs;
}

Ports DeviceSection::process(const Ports& inputs) {
    const std::string key = port_key(inputs);
    Recording* const recording = take(key, inputs);
    if (recording == nullptr) {
        Ports outputs = call_one_by_one(inputs, m_mode);
        note_call(key);
        return outputs;
    }
    try {
        Ports outputs = replay(*recording, inputs);
        give_back(*recording);
        return outputs;
    } catch (...) {
        give_back(*recording);
        throw;
    }
}

} // namespace spng
