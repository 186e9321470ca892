// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/channels/channel_status.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/detector/channel_list.h"
#include "spng/detector/view_groups.h"
#include "spng/detector/wire_noise.h"
#include "spng/device/context.h"
#include "spng/graph/memory_rule.h"
#include "spng/nodes/decon/torch_frer_spectrum.h"
#include "spng/nodes/noise/board_rows.h"
#include "spng/nodes/noise/coherent_noise.h"
#include "spng/nodes/noise/tick_ranges.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>

#include <limits>

namespace spng {
namespace {

/// With boards: the copy without shared noise, and the work for it.
std::vector<PlannedSet> plan_memory(const ChannelStatusConfig& config, PlannedCall& call) {
    const PlannedTensor& adc = call.inputs.at(0).at(0);
    if (!config.board_channels.empty()) {
        call.scratch(MemoryUse::input, (coherent_noise_buffers + 1) * adc.samples() * call.real);
    }
    return {call.inputs.at(0)};
}

const Registration<ChannelStatus> registration{
    {.type = "SPNGChannelStatus",
     .kind = "noise",
     .text = "finds dead and noisy channels by their noise and marks them as bad",
     .memory = memory_rule<ChannelStatus>({.call = plan_memory})}};

/// Return the counts for the watch.
at::Tensor counts_of(const at::Tensor& good, const at::Tensor& fault) {
    const auto are = [&](ChannelFault which) { return fault == static_cast<int>(which); };
    const auto dead = are(ChannelFault::dead), noisy = are(ChannelFault::noisy);
    return at::stack({(good | dead | noisy).sum(-1), dead.sum(-1), noisy.sum(-1)});
}

} // namespace

void ChannelStatus::configured() {
    const auto& shared = config().shared_noise;
    if (shared != "none" && !config().board_channels.empty()) {
        reject("board_channels", std::to_string(config().board_channels.size()) + " values",
               "none with shared_noise " + shared);
    }
    m_rule = {config().min_rms, config().max_rms, config().max_level, config().block,
              shared == "kept"      ? SharedNoise::kept
              : shared == "removed" ? SharedNoise::removed
                                    : SharedNoise::none};
}

void ChannelStatus::prepare_node(Environment& environment) {
    const ViewGroup& group = group_of(config(), environment, name().text());
    if (config().frer_spectrum.size() != group.views.size()) {
        reject("frer_spectrum", std::to_string(config().frer_spectrum.size()) + " names",
               "one for each of " + std::to_string(group.views.size()) + " views");
    }
    const auto spectra = files_read().empty() ? std::vector<NoiseSpectrum>{}
                                              : load_noise_spectra(identify_file("noise").path.string());
    const auto* list = config().channel_list.empty()
                           ? nullptr
                           : &environment.service<ChannelList>(config().channel_list, at_key("channel_list"));
    const double none = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> rms, low, high;
    bool is_known = true;
    for (std::size_t index = 0; index < group.views.size(); ++index) {
        const ChannelView& view = group.views[index];
        const auto& response =
            environment.service<TorchFRERSpectrum>(config().frer_spectrum[index], at_key("frer_spectrum"))
                .config();
        is_known = is_known && has_plane(spectra, view.plane);
        std::map<int, double> noise;
        if (is_known) {
            noise = expected_noise(
                view.channels, group.anodes[index]->wires(), view.plane, spectra,
                {response.adc_per_voltage, response.readout_period, config().block, config().gain});
        }
        for (const int channel : view.channels) {
            rms.push_back(is_known ? noise.at(channel) : none);
            const auto cuts =
                list == nullptr || !list->cuts().contains(channel) ? RmsCuts{} : list->cuts().at(channel);
            low.push_back(cuts.low);
            high.push_back(cuts.high);
        }
    }
    const auto on_device = [&](const std::vector<double>& values) {
        return at::tensor(values, at::kDouble)
            .view(group.ids.sizes())
            .to(at::TensorOptions(context().device()).dtype(context().real()));
    };
    m_expected = {is_known ? on_device(rms) : at::Tensor(), list ? on_device(low) : at::Tensor(),
                  list ? on_device(high) : at::Tensor()};
    if (!config().board_channels.empty()) {
        m_boards = board_rows(group, {config().board_channels, config().board_shift}, name().text())
                       .to(context().device());
    }
}

at::Tensor ChannelStatus::faults_of(const at::Tensor& waveforms, const ChannelTable& channels) const {
    at::Tensor fault = channels.fault;
    at::Tensor good = channels.good;
    const auto judge = [&](const at::Tensor& by, SharedNoise shared) {
        ChannelFaultRule rule = m_rule;
        rule.shared_noise = shared;
        const at::Tensor found = channel_faults(by, good, m_expected, rule);
        fault = fault.defined() ? at::maximum(fault, found) : found; // channels with a fault are not good
        good = good & (found == static_cast<int>(ChannelFault::none));
    };
    if (m_boards.defined()) {
        judge(waveforms, SharedNoise::kept);
        judge(remove_coherent_noise(waveforms, good, m_boards, {}, found_bad_ticks(channels)),
              SharedNoise::removed);
    } else {
        judge(waveforms, m_rule.shared_noise);
    }
    return fault;
}

NamedTensor ChannelStatus::reporting_step(NamedTensor tensor, const EventInfo& /*event*/, Reports& reports) {
    NVTX_SCOPED_RANGE("ChannelStatus::measure");
    auto channels = std::make_shared<ChannelTable>(*tensor.channels);
    tensor.data = tensor.data.to(context().device());
    channels->fault = faults_of(tensor.data, *channels);
    channels->good = channels->good & (channels->fault == static_cast<int>(ChannelFault::none));
    reports = m_watch.observe(name().text(), *channels, counts_of(channels->good, channels->fault),
                              config().max_bad_share);
    tensor.channels = std::move(channels);
    return tensor;
}

instrument::InputReport ChannelStatus::input_report() const {
    return m_watch.report();
}

} // namespace spng
