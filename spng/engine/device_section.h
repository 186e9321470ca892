// SPDX-License-Identifier: Apache-2.0
#pragma once
// The device section of a graph as one node. It calls its nodes one by one for the first event of a shape,
// captures them as a CUDA graph with the second, and launches that graph for all later ones
// (docs/decisions/streams.md).

#include "spng/device/device_graph.h"
#include "spng/engine/graph_section.h"
#include "spng/engine/section_ports.h"
#include "spng/graph/node.h"

#include <c10/core/Event.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace spng {

/// Outputs equal those of the nodes called one by one. The section calls its nodes one by one for events of a
/// new shape and after a rejected capture, and logs each reason once.
class DeviceSection : public NodeWith<NoConfig> {
public:
    /// Maximum number of shapes with captures, each of which has the memory of an event. For a further shape
    /// the least recently used one is dropped, but none whose capture the device rejected.
    static constexpr std::size_t max_shapes = 4;

    /// Set the nodes of the section. Call before prepare().
    /// @param slots  maximum number of captures for each shape. The host uses a capture for one event at a time;
    /// its launches on the device are serial.
    void enclose(const Graph& graph, GraphSection section, instrument::MeterMode mode, std::size_t slots);

    std::vector<std::string> input_ports() const override;
    std::vector<std::string> output_ports() const override;

protected:
    void prepare_node(Environment& environment) override;
    Ports process(const Ports& inputs) override;

private:
    /// A CUDA graph with the memory that it reads and writes.
    struct Capture {
        explicit Capture(const Ports& ports) : inputs(ports) {}
        StaticInputs inputs;
        std::unique_ptr<DeviceGraph> graph;
        std::optional<OutputTemplate> outputs;
        std::optional<c10::Event> last_use; ///< after the latest replay; none on the CPU
        bool is_taken = true;
    };
    struct Shape {
        std::uint64_t last_use = 0; ///< value of m_requests at the last use
        /// The nodes were called one by one, so that their tables for this shape exist.
        bool was_called = false;
        std::size_t slots = 0; ///< maximum number of captures, lowered when the device rejects one
        std::vector<std::unique_ptr<Capture>> captures{};
    };

    Ports call_one_by_one(const Ports& inputs, instrument::MeterMode mode) const;
    Ports replay(Capture& capture, const Ports& inputs);
    std::unique_ptr<Capture> capture(const Ports& inputs);
    /// Find or add the shape of this key. May drop another one.
    Shape& shape_of(const std::string& key);
    static bool is_idle(const Capture& capture);
    /// Take a capture of the shape, made if necessary.
    /// @return null if the nodes are to be called one by one
    Capture* take(const std::string& key, const Ports& inputs);
    /// @param idle_only  only a capture whose latest launch the device has finished
    static Capture* free_capture(Shape& shape, bool idle_only);
    void note_call(const std::string& key);
    void give_back(Capture& capture);

    const Graph* m_graph = nullptr;
    GraphSection m_section;
    instrument::MeterMode m_mode;
    std::size_t m_slots = 1;
    std::mutex m_mutex;
    std::map<std::string, Shape> m_shapes; ///< by port_key
    std::uint64_t m_requests = 0;
};

} // namespace spng
