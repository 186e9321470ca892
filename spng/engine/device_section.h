#pragma once
// The device section of a graph as one node: its nodes are called one by one for the first event of a shape,
// recorded with the second, and from then on launched as one (docs/decisions/streams.md).

#include "spng/device/device_graph.h"
#include "spng/engine/graph_section.h"
#include "spng/engine/section_ports.h"
#include "spng/graph/node.h"

#include <c10/core/Event.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace spng {

/// Gives what its nodes would give, whichever way it takes. Events that cannot be launched as one have their
/// nodes called one by one; why is in the log, once per reason: an event of a shape that was not seen before,
/// a capture that the device rejected.
class DeviceSection : public NodeWith<NoConfig> {
public:
    /// A recording has memory of its own, as much as an event takes: of more shapes than these the one that
    /// was asked for longest ago is forgotten, but for those with which the device rejected a recording.
    static constexpr std::size_t max_shapes = 4;

    /// Before prepare(). A graph to record into belongs to one event at a time on the host, and to all on the
    /// device one after the other; there are at most `slots` for each shape.
    void enclose(const Graph& graph, GraphSection section, instrument::MeterMode mode, std::size_t slots);

    std::vector<std::string> input_ports() const override;
    std::vector<std::string> output_ports() const override;

    /// How many events were launched as one.
    std::uint64_t replays() const { return m_replays; }

protected:
    void prepare_node(Environment& environment) override;
    Ports process(const Ports& inputs) override;

private:
    /// A graph with the memory that it reads, and what it gives.
    struct Recording {
        explicit Recording(const Ports& ports) : inputs(ports) {}
        StaticInputs inputs;
        std::unique_ptr<DeviceGraph> graph;
        std::optional<OutputTemplate> outputs;
        std::optional<c10::Event> last_use; ///< behind its latest replay; none on the CPU
        bool is_taken = true;
    };
    struct Shape {
        std::uint64_t last_asked = 0; ///< how many were asked for before
        bool was_called = false;      ///< one by one, so that what the nodes make once is there
        std::size_t slots = 0;        ///< most recordings: none, or no more, where the device rejects
        std::vector<std::unique_ptr<Recording>> recordings = {};
    };

    Ports call_one_by_one(const Ports& inputs, instrument::MeterMode mode) const;
    Ports replay(Recording& recording, const Ports& inputs);
    std::unique_ptr<Recording> record(const Ports& inputs);
    /// The shape of this key; makes room for one that is not known.
    Shape& shape_of(const std::string& key);
    static bool is_idle(const Recording& recording);
    /// A recording of the shape, made if need be; null when the event goes another way.
    Recording* take(const std::string& key, const Ports& inputs);
    /// @param idle_only  one whose latest launch the device is done with
    static Recording* free_recording(Shape& shape, bool idle_only);
    void note_call(const std::string& key);
    void give_back(Recording& recording);

    const Graph* m_graph = nullptr;
    GraphSection m_section;
    instrument::MeterMode m_mode;
    std::size_t m_slots = 1;
    std::mutex m_mutex;
    std::map<std::string, Shape> m_shapes; ///< by port_key
    std::uint64_t m_asked = 0;
    std::atomic<std::uint64_t> m_replays{0};
};

} // namespace spng
