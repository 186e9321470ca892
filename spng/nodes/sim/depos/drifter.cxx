// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/sim/depos/drifter.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/log/log.h"
#include "spng/detector/anode_plane.h"
#include "spng/nodes/sim/random_stream.h"

#include <utility>

namespace spng {
namespace {

const Registration<Drifter> registration{{.type = "SPNGDrifter",
                                          .kind = "sim",
                                          .inputs = {"depositions"},
                                          .outputs = {"depositions"},
                                          .text = "drifts depositions to the response planes of an anode"}};

} // namespace

void Drifter::prepare_node(Environment& environment) {
    const auto& anode = environment.service<AnodePlane>(config().anode, name().text());
    m_volumes = make_drift_volumes(anode.wires(), config().volumes, at_key("volumes"));
}

Ports Drifter::process(const Ports& inputs) {
    NVTX_SCOPED_RANGE("Drifter::drift");
    const EventInfo& event = inputs[0]->event();
    const Depositions depositions = depositions_in(*inputs[0]);
    const auto seed = mixed_seed(static_cast<std::uint64_t>(config().seed), event.index, seed_purpose::drift);
    DriftedDepositions drifted = drift(depositions, m_volumes,
                                       {config().drift_speed, config().longitudinal_diffusion,
                                        config().transverse_diffusion, config().lifetime, config().fluctuate},
                                       seed);
    if (drifted.outside != 0) {
        log::warn(name().text(), [&] {
            return "event " + std::to_string(event.ident) + ": dropped " + std::to_string(drifted.outside) +
                   " of " + std::to_string(depositions.count()) + " depositions outside of the drift volumes";
        });
    }
    return {deposition_set(inputs[0]->event_ptr(), std::move(drifted.depositions))};
}

} // namespace spng
