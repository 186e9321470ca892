// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/sim/signal/add_noise.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/tensor_checks.h"
#include "spng/detector/anode_plane.h"
#include "spng/nodes/sim/random_stream.h"
#include "spng/nodes/sim/signal/readout_plane.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <map>

namespace spng {
namespace {

const Registration<AddNoise> registration{{.type = "SPNGAddNoise",
                                           .kind = "sim",
                                           .inputs = {"waveforms"},
                                           .outputs = {"waveforms"},
                                           .text = "adds noise with measured spectra"}};

std::vector<int> all_faces(const WireAnode& anode) {
    std::vector<int> faces;
    for (const WireFace& face : anode.faces) {
        faces.push_back(face.ident);
    }
    return faces;
}

} // namespace

void AddNoise::configured() {
    if (config().coherent_channels.size() != 3) {
        reject("coherent_channels", std::to_string(config().coherent_channels.size()) + " values",
               "three, one per plane");
    }
}

void AddNoise::prepare_node(Environment& environment) {
    const auto& anode = environment.service<AnodePlane>(config().anode, at_key("anode"));
    const auto spectra = load_noise_spectra(identify_file("noise").path.string());
    const auto channels = static_cast<std::int64_t>(anode.channels().size());
    m_amplitude = at::empty({channels, config().nticks / 2 + 1}, at::kFloat);
    m_board = at::empty({channels}, at::kLong);
    std::int64_t boards = 0;
    for (int plane = 0; plane < 3; ++plane) {
        const ReadoutPlane wires =
            make_readout_plane(anode.wires(), all_faces(anode.wires()), plane, anode.channels(), 0);
        // By length; the wires of a plane have few different lengths.
        std::map<double, at::Tensor> amplitude_of;
        const auto per_board =
            static_cast<std::size_t>(config().coherent_channels[static_cast<std::size_t>(plane)]);
        for (std::size_t index = 0; index < wires.rows.size(); ++index) {
            at::Tensor& amplitude = amplitude_of[wires.length[index]];
            if (!amplitude.defined()) {
                amplitude =
                    mean_amplitude(spectra, plane, wires.length[index], config().nticks, config().tick) *
                    config().adc_per_voltage;
            }
            m_amplitude[wires.rows[index]].copy_(amplitude);
            const auto board = static_cast<std::int64_t>(index / per_board);
            m_board[wires.rows[index]] = board;
            boards = std::max(boards, board + 1);
        }
    }
    m_coherent_amplitude = low_frequency_amplitude(config().coherent_rms, config().coherent_corner,
                                                   config().nticks, config().tick)
                               .to(at::kFloat)
                               .expand({boards, -1});
}

Ports AddNoise::process(const Ports& inputs) {
    NamedTensor waveforms = inputs[0]->only();
    const std::int64_t channels = m_amplitude.size(0);
    require_tensor(waveforms.data.dim() == 2 && waveforms.data.size(0) == channels &&
                       waveforms.data.size(1) == config().nticks && waveforms.data.is_cpu(),
                   "SPNGAddNoise", "waveforms", waveforms.data,
                   "(" + std::to_string(channels) + ", " + std::to_string(config().nticks) + ") cpu");
    enum Purpose : std::uint64_t { incoherent = 1, coherent = 2 };
    const auto seed_for = [&](Purpose purpose) {
        return mixed_seed(static_cast<std::uint64_t>(config().seed), inputs[0]->event().index, purpose);
    };
    NVTX_SCOPED_RANGE("AddNoise::noise");
    at::Tensor noise = random_waveforms(m_amplitude, config().nticks, seed_for(incoherent));
    if (config().coherent_rms > 0) {
        noise += random_waveforms(m_coherent_amplitude, config().nticks, seed_for(coherent))
                     .index_select(0, m_board);
    }
    waveforms.data = noise.add_(waveforms.data);
    merge_notes(waveforms.notes, notes_of(*data_file()));
    return {std::make_shared<const TensorSet>(inputs[0]->event_ptr(), std::vector{std::move(waveforms)})};
}

} // namespace spng
