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
#include <utility>

namespace spng {
namespace {

const Registration<AddNoise> registration{
    {.type = "SPNGAddNoise", .kind = "sim", .text = "adds noise with measured spectra"}};

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
    m_spectra = load_noise_spectra(identify_file("noise").path.string());
    m_rows.resize(anode.channels().size());
    m_board = at::empty({static_cast<std::int64_t>(m_rows.size())}, at::kLong);
    for (int plane = 0; plane < 3; ++plane) {
        const ReadoutPlane wires =
            make_readout_plane(anode.wires(), all_faces(anode.wires()), plane, anode.channels(), 0);
        const auto per_board =
            static_cast<std::size_t>(config().coherent_channels[static_cast<std::size_t>(plane)]);
        for (std::size_t index = 0; index < wires.rows.size(); ++index) {
            m_rows[static_cast<std::size_t>(wires.rows[index])] = {plane, wires.length[index]};
            const auto board = static_cast<std::int64_t>(index / per_board);
            m_board[wires.rows[index]] = board;
            m_boards = std::max(m_boards, board + 1);
        }
    }
    amplitude_for(config().nticks);
}

at::Tensor AddNoise::amplitude_for(std::int64_t ticks) {
    return m_amplitudes.get(ticks, at::kCPU, [&] {
        at::Tensor amplitudes =
            at::empty({static_cast<std::int64_t>(m_rows.size()), ticks / 2 + 1}, at::kFloat);
        // The wires of a plane have few different lengths.
        std::map<std::pair<int, double>, at::Tensor> amplitude_of;
        for (std::size_t row = 0; row < m_rows.size(); ++row) {
            const auto& [plane, length] = m_rows[row];
            at::Tensor& amplitude = amplitude_of[{plane, length}];
            if (!amplitude.defined()) {
                amplitude = mean_amplitude(m_spectra, plane, length, ticks, config().tick) *
                            (config().level * config().adc_per_voltage);
            }
            amplitudes[static_cast<std::int64_t>(row)].copy_(amplitude);
        }
        return amplitudes;
    });
}

at::Tensor AddNoise::coherent_amplitude_for(std::int64_t ticks) const {
    return low_frequency_amplitude(config().coherent_rms, config().coherent_corner, ticks, config().tick)
        .to(at::kFloat)
        .expand({m_boards, -1});
}

NamedTensor AddNoise::step(NamedTensor waveforms, const EventInfo& event) {
    const auto channels = static_cast<std::int64_t>(m_rows.size());
    require_tensor(waveforms.data.dim() == 2 && waveforms.data.size(0) == channels &&
                       waveforms.data.size(1) >= 2 && waveforms.data.is_cpu(),
                   "SPNGAddNoise", "waveforms", waveforms.data,
                   "(" + std::to_string(channels) + ", 2 ticks or more) cpu");
    const std::int64_t ticks = waveforms.data.size(1);
    enum Purpose : std::uint64_t { incoherent = 1, coherent = 2 };
    const auto seed_for = [&](Purpose purpose) {
        return mixed_seed(static_cast<std::uint64_t>(config().seed), event.index, purpose);
    };
    NVTX_SCOPED_RANGE("AddNoise::noise");
    at::Tensor noise = random_waveforms(amplitude_for(ticks), ticks, seed_for(incoherent));
    if (config().coherent_rms > 0) {
        noise += random_waveforms(coherent_amplitude_for(ticks), ticks, seed_for(coherent))
                     .index_select(0, m_board);
    }
    waveforms.data = noise.add_(waveforms.data);
    merge_notes(waveforms.notes, notes_of(*data_file()));
    return waveforms;
}

} // namespace spng
