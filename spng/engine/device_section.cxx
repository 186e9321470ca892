// SPDX-License-Identifier: Apache-2.0
#include "spng/engine/device_section.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/device/context.h"
#include "spng/device/lost_device.h"
#include "spng/device/memory/device_memory.h"
#include "spng/device/memory/out_of_memory.h"
#include "spng/instrument/meter/unmeasured.h"

#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <limits>
#include <utility>

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

/// The outputs of the nodes cannot be repeated for other events, whatever the device does.
class UnusableOutputs : public Error {
public:
    explicit UnusableOutputs(std::string reason) : Error(ErrorKind::Internal, {.what = std::move(reason)}) {}
};

c10::Stream current_stream(c10::Device device) {
    return c10::impl::VirtualGuardImpl(device.type()).getStream(device);
}

} // namespace

void DeviceSection::enclose(const Graph& graph, GraphSection section, instrument::MeterMode mode,
                            std::size_t slots, std::size_t max_captures, log::Level level) {
    m_graph = &graph;
    m_section = std::move(section);
    m_mode = mode;
    m_slots = slots;
    m_max_captures = max_captures;
    m_level = level;
    const auto is_inside = [&](std::size_t vertex) {
        return std::binary_search(m_section.vertices.begin(), m_section.vertices.end(), vertex);
    };
    for (const std::size_t vertex : m_section.vertices) {
        for (const std::size_t edge : graph.vertices()[vertex].output_edges) {
            const std::size_t head = graph.edges()[edge].head.node;
            if (!is_inside(head)) {
                m_made.push_back(edge);
                m_is_lent.push_back(std::binary_search(m_section.ends.begin(), m_section.ends.end(), head));
            }
        }
    }
    for (const auto& vertex : graph.vertices()) {
        auto* node = dynamic_cast<DeviceWorkStarter*>(vertex.node);
        const auto& edges = vertex.output_edges;
        const bool enters = std::all_of(edges.begin(), edges.end(), [&](std::size_t edge) {
            return is_inside(graph.edges()[edge].head.node);
        });
        if (node != nullptr && !edges.empty() && enters && node->leave_device_work()) {
            const auto port = std::find(m_section.entering.begin(), m_section.entering.end(), edges.front());
            m_starts.push_back({node, static_cast<std::size_t>(port - m_section.entering.begin()), edges});
        }
    }
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

DeviceSection::Work DeviceSection::call_one_by_one(const Ports& inputs, instrument::MeterMode mode) const {
    Ports sets = uploaded(inputs, context().device());
    Work work;
    work.on_edge.resize(m_graph->edges().size());
    for (std::size_t port = 0; port < sets.size(); ++port) {
        work.on_edge[m_section.entering[port]] = sets[port];
    }
    for (const Start& start : m_starts) {
        auto started = start.node->device_work(sets[start.first_port]);
        for (std::size_t port = 0; port < start.edges.size(); ++port) {
            work.on_edge[start.edges[port]] = std::move(started.outputs.at(port));
        }
        work.findings.push_back(std::move(started.findings));
    }
    sets.clear(); // frees each as soon as it was used
    call_vertices(m_section.vertices, work.on_edge, mode);
    return work;
}

void DeviceSection::call_vertices(const std::vector<std::size_t>& vertices,
                                  std::vector<TensorSetPtr>& on_edge, instrument::MeterMode mode) const {
    const std::uint64_t event = instrument::current_call().event;
    for (const std::size_t index : vertices) {
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
}

Ports DeviceSection::finish_event(const Ports& inputs, const std::vector<at::Tensor>& findings,
                                  std::vector<TensorSetPtr> on_edge) const {
    for (std::size_t i = 0; i < m_starts.size(); ++i) {
        m_starts[i].node->collect(*inputs[m_starts[i].first_port], findings[i]);
    }
    call_vertices(m_section.ends, on_edge, m_mode);
    Ports outputs;
    for (const std::size_t edge : m_section.leaving) {
        outputs.push_back(std::move(on_edge[edge]));
    }
    return outputs;
}

TensorSetPtr DeviceSection::arrived(const TensorSetPtr& output, std::size_t port) const {
    const Graph::Target& tail = m_graph->edges()[m_section.leaving[port]].tail;
    const auto* end = dynamic_cast<const AsynchronousOutput*>(m_graph->vertices()[tail.node].node);
    return end == nullptr ? output : end->arrived(output, tail.port);
}

std::unique_ptr<DeviceSection::Capture> DeviceSection::capture(const Ports& inputs, bool& is_ready) {
    NVTX_SCOPED_RANGE("DeviceSection::record");
    auto made = std::make_unique<Capture>(inputs, context().device());
    made->graph = make_device_graph(context().device());
    instrument::MeterMode mode = m_mode;
    mode.device_events = false;
    const auto call = [this, mode, source = made.get()] {
        const instrument::Unmeasured unmeasured;
        return call_one_by_one(source->inputs.ports(), mode);
    };
    if (!is_ready) {
        call(); // makes the handles and plans of this thread, in memory that the allocator has of earlier events
        is_ready = true;
    }
    // The graph may keep the work, so it refers to nothing of this call.
    const auto outputs = std::make_shared<Ports>();
    const auto findings = std::make_shared<std::vector<at::Tensor>>();
    const auto late_values = std::make_shared<std::map<std::string, std::shared_ptr<LateValue>>>();
    {
        const CapturingThread capturing;
        made->graph->capture([call, outputs, findings, late_values, &edges = m_made,
                              &late = *made->inputs.ports().front()->event().late_values] {
            Work work = call();
            const auto values = late.by_node();
            Ports sets;
            for (const std::size_t edge : edges) {
                sets.push_back(std::move(work.on_edge[edge]));
            }
            std::vector<at::Tensor> tensors = tensors_of(sets);
            for (const at::Tensor& found : work.findings) {
                if (found.defined()) {
                    tensors.push_back(found);
                }
            }
            for (const auto& [node, value] : values) {
                tensors.push_back(value->values());
            }
            if (outputs->empty()) {
                *outputs = std::move(sets);
                *late_values = values;
                *findings = std::move(work.findings);
            }
            return tensors;
        });
    }
    made->findings = *findings;
    made->late_values = *late_values;
    made->outputs.emplace(made->inputs.ports(), *outputs, m_is_lent);
    if (!made->outputs->rejection().empty()) {
        throw UnusableOutputs(made->outputs->rejection());
    }
    return made;
}

DeviceSection::Shape& DeviceSection::shape_of(const std::string& key) {
    const bool is_new = !m_shapes.contains(key);
    if (is_new && m_shapes.size() >= max_shapes) {
        const auto is_droppable = [this](const Shape& shape) {
            // A new shape would be rejected again.
            const bool is_rejected = shape.slots < m_slots && m_requests < shape.retry_at;
            return !is_rejected && std::all_of(shape.captures.begin(), shape.captures.end(),
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
    shape.use_before = shape.last_use;
    shape.last_use = ++m_requests;
    return shape;
}

std::size_t DeviceSection::captures() const {
    std::size_t count = 0;
    for (const auto& [key, shape] : m_shapes) {
        count += shape.captures.size();
    }
    return count;
}

bool DeviceSection::make_room(const Shape& shape) {
    const std::size_t most =
        m_requests < m_pause_ends ? std::min(m_fitting_captures, m_max_captures) : m_max_captures;
    if (captures() < most) {
        return true;
    }
    // Shapes that alternate do not take the memory from each other: a capture goes if the new shape was asked for
    // twice since.
    return most > 0 && shape.captures.empty() && drop_oldest(shape.use_before);
}

bool DeviceSection::drop_oldest(std::optional<std::uint64_t> idle_before) {
    Shape* its_shape = nullptr;
    std::size_t oldest = 0;
    for (auto& [key, shape] : m_shapes) {
        for (std::size_t i = 0; i < shape.captures.size(); ++i) {
            const Capture& capture = *shape.captures[i];
            const bool may_go =
                idle_before ? is_idle(capture) && capture.last_request < *idle_before : !capture.is_taken;
            if (may_go &&
                (its_shape == nullptr || capture.last_request < its_shape->captures[oldest]->last_request)) {
                its_shape = &shape;
                oldest = i;
            }
        }
    }
    if (its_shape == nullptr) {
        return false;
    }
    const auto position = its_shape->captures.begin() + static_cast<std::ptrdiff_t>(oldest);
    if ((*position)->last_use) {
        (*position)->last_use->synchronize();
    }
    its_shape->captures.erase(position);
    return true;
}

void DeviceSection::pause_captures() {
    m_fitting_captures = captures();
    if (m_requests >= m_pause_ends) { // not the same shortage again
        m_pause = m_pause == 0 ? first_pause : std::min(2 * m_pause, max_pause);
    }
    m_pause_ends = m_requests + m_pause;
    log::line(logger, m_level, [&] {
        return "out of memory: " + std::to_string(m_fitting_captures) +
               (m_fitting_captures == 1 ? " CUDA graph is kept" : " CUDA graphs are kept") +
               ", and no more are made for " + std::to_string(m_pause) + " events";
    });
}

void DeviceSection::release_memory(bool all) {
    const std::lock_guard lock(m_mutex);
    if (!drop_oldest()) {
        return;
    }
    while (all && drop_oldest()) {
    }
    pause_captures();
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
    if (m_requests >= shape.retry_at) {
        shape.slots = m_slots;
    }
    Capture* taken = free_capture(shape, true);
    if (taken == nullptr && shape.captures.size() < shape.slots && make_room(shape)) {
        taken = try_capture(shape, inputs);
    }
    if (taken == nullptr) {
        taken = free_capture(shape, false);
    }
    if (taken != nullptr) {
        taken->last_request = m_requests;
    }
    return taken;
}

DeviceSection::Capture* DeviceSection::try_capture(Shape& shape, const Ports& inputs) {
    bool is_ready = false;
    bool is_cache_empty = false; // since the call that makes the thread ready
    for (int tries = 1;; ++tries) {
        try {
            shape.captures.push_back(capture(inputs, is_ready));
            ++m_tried_captures;
            log::info(logger, [&] {
                return "captured " + std::to_string(m_section.vertices.size()) + " nodes, copy " +
                       std::to_string(shape.captures.size()) + " of at most " + std::to_string(shape.slots);
            });
            return shape.captures.back().get();
        } catch (const std::exception& error) {
            ++m_tried_captures;
            if (!handles_out_of_memory()) {
                if (loss_of(context().device())) {
                    throw;
                }
                reject_for_a_while(shape, error);
                return nullptr;
            }
        }
        if (is_cache_empty && (!shape.captures.empty() || !drop_oldest())) {
            pause_captures();
            return nullptr;
        }
        is_cache_empty = is_ready || tries > 1;
        release_cached_memory(context().device());
    }
}

void DeviceSection::reject_for_a_while(Shape& shape, const std::exception& error) const {
    const bool is_final = dynamic_cast<const UnusableOutputs*>(&error) != nullptr;
    shape.slots = shape.captures.size();
    shape.retry_at = is_final ? std::numeric_limits<std::uint64_t>::max() : m_requests + shape.next_pause;
    const bool is_first = shape.next_pause == first_pause;
    log::line(logger, is_first ? m_level : log::Level::info, [&] {
        return std::string(shape.slots == 0 ? "events of this shape have no CUDA graph"
                                            : "this shape has one CUDA graph") +
               ", since a capture failed" +
               (is_final ? "" : "; it is tried again after " + std::to_string(shape.next_pause) + " events") +
               ": " + without_trace(error.what());
    });
    shape.next_pause = std::min(2 * shape.next_pause, max_pause);
}

void DeviceSection::note_call(const std::string& key) {
    const std::lock_guard lock(m_mutex);
    if (const auto shape = m_shapes.find(key); shape != m_shapes.end()) {
        shape->second.was_called = true;
    }
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
    try {
        {
            NVTX_SCOPED_RANGE("DeviceSection::upload");
            capture.inputs.load(inputs);
        }
        capture.graph->replay();
        const Ports made = capture.outputs->fill(inputs);
        std::vector<TensorSetPtr> on_edge(m_graph->edges().size());
        for (std::size_t i = 0; i < made.size(); ++i) {
            on_edge[m_made[i]] = made[i];
        }
        if (const auto& late = inputs.front()->event().late_values) {
            for (const auto& [node, value] : capture.late_values) {
                late->add(node, value->values(), value->channels(), value->reader());
            }
        }
        Ports outputs = finish_event(inputs, capture.findings, std::move(on_edge));
        note_use();
        return outputs;
    } catch (...) {
        note_use(); // of the work that was queued before the failure
        throw;
    }
}

Ports DeviceSection::process(const Ports& inputs) {
    const std::string key = port_key(inputs);
    for (;;) {
        const std::uint64_t tried_captures = m_tried_captures;
        try {
            return replay_or_call(key, inputs);
        } catch (...) {
            if (!handles_out_of_memory()) {
                throw;
            }
            const std::lock_guard lock(m_mutex);
            if (drop_oldest()) {
                pause_captures();
            } else if (m_tried_captures == tried_captures) {
                throw; // no capture of another thread kept the allocator from returning unused memory
            }
        }
        release_cached_memory(context().device());
    }
}

Ports DeviceSection::replay_or_call(const std::string& key, const Ports& inputs) {
    Capture* const capture = take(key, inputs);
    if (capture == nullptr) {
        Work work = call_one_by_one(inputs, m_mode);
        note_call(key);
        return finish_event(inputs, work.findings, std::move(work.on_edge));
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
