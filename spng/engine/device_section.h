// SPDX-License-Identifier: Apache-2.0
#pragma once
// The device section of a graph as one node. It calls its nodes one by one for the first event of a shape,
// captures them as a CUDA graph with the second, and launches that graph for all later ones
// (docs/decisions/streams.md). With them it captures the work on the device that uploading nodes leave to it. The
// nodes that pack frames are called for each event: the size of their copies differs.

#include "spng/core/log/log.h"
#include "spng/device/device_graph.h"
#include "spng/device/late_values.h"
#include "spng/engine/graph_section.h"
#include "spng/engine/section_ports.h"
#include "spng/graph/node.h"
#include "spng/graph/node_mixins.h"

#include <c10/core/Event.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace spng {

/// Outputs equal those of the nodes called one by one. The section calls its nodes one by one for events of a
/// new shape, after a rejected capture, and where the memory for a capture is missing, and logs each reason. It
/// tries a rejected capture again later: after `first_pause` events, then after twice as many, and so on.
///
/// A launch runs no host code of the nodes; what the host must see of each event is in its LateValues.
///
/// Each capture has the memory of an event. If memory runs out, in a capture or for an event, the section drops
/// the capture that was used longest ago and tries again, until none is left.
class DeviceSection : public NodeWith<NoConfig>, public SpareMemory, public AsynchronousOutput {
public:
    /// Maximum number of shapes with captures. For a further shape the least recently used one is dropped, but
    /// none whose capture the device has rejected recently.
    static constexpr std::size_t max_shapes = 4;
    /// Maximum number of captures for each shape: more would not overlap better.
    static constexpr std::size_t max_slots = 2;
    /// After memory ran out, the section makes no further captures for so many events, and for twice as many each
    /// time that it happens again later.
    static constexpr std::uint64_t first_pause = 32;
    /// Maximum number of events before a capture is tried again that was rejected or found no memory.
    static constexpr std::uint64_t max_pause = 1024;

    /// Set the nodes of the section. Call before prepare().
    /// @param slots  maximum number of captures for each shape. The host uses a capture for one event at a time;
    /// its launches on the device are serial.
    /// @param max_captures  of all shapes together
    /// @param level  of log lines about captures that fail
    void enclose(const Graph& graph, GraphSection section, instrument::MeterMode mode, std::size_t slots,
                 std::size_t max_captures = max_shapes * max_slots, log::Level level = log::Level::warn);

    std::vector<std::string> input_ports() const override;
    std::vector<std::string> output_ports() const override;

    /// Number of shapes that are remembered.
    std::size_t shapes() const { return m_shapes.size(); }

    /// Drop captures: all, or the one that was used longest ago.
    void release_memory(bool all) override;

    TensorSetPtr arrived(const TensorSetPtr& output, std::size_t port) const override;

protected:
    void prepare_node(Environment& environment) override;
    Ports process(const Ports& inputs) override;

private:
    /// An uploading node that leaves its work on the device to the section.
    struct Start {
        DeviceWorkStarter* node;
        std::size_t first_port;         ///< input port of the section with the set to upload
        std::vector<std::size_t> edges; ///< by output port
    };
    /// Sets on edges of the graph, and the findings of each start.
    struct Work {
        std::vector<TensorSetPtr> on_edge;
        std::vector<at::Tensor> findings;
    };
    /// A CUDA graph with the memory that it reads and writes.
    struct Capture {
        Capture(const Ports& ports, c10::Device device) : inputs(ports, device) {}
        StaticInputs inputs;
        std::vector<at::Tensor> findings;                              ///< by start
        std::map<std::string, std::shared_ptr<LateValue>> late_values; ///< by node
        std::unique_ptr<DeviceGraph> graph;
        std::optional<OutputTemplate> outputs;
        std::optional<c10::Event> last_use; ///< after the latest replay; none on the CPU
        std::uint64_t last_request = 0;     ///< value of m_requests at the last use
        bool is_taken = true;
    };
    struct Shape {
        std::uint64_t last_use = 0;   ///< value of m_requests at the last use
        std::uint64_t use_before = 0; ///< value of m_requests at the use before that
        /// The nodes were called one by one, so that their tables for this shape exist.
        bool was_called = false;
        std::size_t slots = 0;      ///< maximum number of captures, lowered when the device rejects one
        std::uint64_t retry_at = 0; ///< value of m_requests from which `slots` is m_slots again
        std::uint64_t next_pause = first_pause;
        std::vector<std::unique_ptr<Capture>> captures{};
    };

    /// Call the nodes but the ends.
    Work call_one_by_one(const Ports& inputs, instrument::MeterMode mode) const;
    void call_vertices(const std::vector<std::size_t>& vertices, std::vector<TensorSetPtr>& on_edge,
                       instrument::MeterMode mode) const;
    /// Queue the copies of findings and call the ends.
    /// @param on_edge  the sets that enter the ends or leave the section
    Ports finish_event(const Ports& inputs, const std::vector<at::Tensor>& findings,
                       std::vector<TensorSetPtr> on_edge) const;
    Ports replay(Capture& capture, const Ports& inputs);
    Ports replay_or_call(const std::string& key, const Ports& inputs);
    /// @param is_ready  whether this thread has called the nodes; set
    std::unique_ptr<Capture> capture(const Ports& inputs, bool& is_ready);
    /// Capture for a shape, after dropping captures of other shapes if memory is missing.
    /// @return null if the device rejects the capture or has no memory for it
    Capture* try_capture(Shape& shape, const Ports& inputs);
    /// Find or add the shape of this key. May drop another one.
    Shape& shape_of(const std::string& key);
    /// Make no captures of a shape for a while: none at all if that could not help.
    /// @param error  of the latest capture
    void reject_for_a_while(Shape& shape, const std::exception& error) const;
    static bool is_idle(const Capture& capture);
    std::size_t captures() const;
    /// Whether one more capture may exist. May drop one of another shape.
    bool make_room(const Shape& shape);
    /// Drop the capture that was used longest ago.
    /// @param idle_before  only one that is idle and whose last use was before this request; else one that no
    /// thread uses, after waiting for the device's work with it
    bool drop_oldest(std::optional<std::uint64_t> idle_before = std::nullopt);
    /// Limit the captures to those that exist, for a while.
    void pause_captures();
    /// Take a capture of the shape, made if necessary.
    /// @return null if the nodes are to be called one by one
    Capture* take(const std::string& key, const Ports& inputs);
    /// @param idle_only  only a capture whose latest launch the device has finished
    static Capture* free_capture(Shape& shape, bool idle_only);
    void note_call(const std::string& key);
    void give_back(Capture& capture);

    const Graph* m_graph = nullptr;
    GraphSection m_section;
    std::vector<Start> m_starts;
    std::vector<std::size_t> m_made; ///< edges out of the captured nodes
    std::vector<bool>
        m_is_lent; ///< by edge of m_made: it enters an end, which reads the memory of the capture
    instrument::MeterMode m_mode;
    std::size_t m_slots = 1;
    std::size_t m_max_captures = 0;
    log::Level m_level = log::Level::warn;
    std::mutex m_mutex;
    std::map<std::string, Shape> m_shapes; ///< by port_key
    std::uint64_t m_requests = 0;
    std::atomic<std::uint64_t> m_tried_captures{0};
    std::size_t m_fitting_captures = 0; ///< number of captures for which memory sufficed, before m_pause_ends
    std::uint64_t m_pause_ends = 0;     ///< value of m_requests
    std::uint64_t m_pause = 0;          ///< length of the latest pause [events]
};

} // namespace spng
