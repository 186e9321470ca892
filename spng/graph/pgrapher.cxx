#include "spng/graph/engine.h"

namespace spng {

void run_pgrapher(const Graph& graph, RunState& state) {
    for (std::uint64_t index = 0; !state.ending() && !is_at_end(graph); ++index) {
        EventRun event(graph, state, index);
        for (std::size_t vertex = 0; vertex < graph.vertices().size(); ++vertex) {
            if (!event.run_vertex(vertex)) {
                return;
            }
        }
        event.complete();
    }
}

} // namespace spng
