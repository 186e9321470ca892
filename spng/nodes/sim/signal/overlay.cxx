// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/sim/signal/overlay.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/log/log.h"
#include "spng/core/notes.h"
#include "spng/core/tensor_checks.h"
#include "spng/io/data_path.h"
#include "spng/io/mask_ticks.h"
#include "spng/nodes/channels/channel_ranges.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace spng {
namespace {

const Registration<Overlay> registration{
    {.type = "SPNGOverlay",
     .kind = "sim",
     .inputs = {"waveforms"},
     .outputs = {"adc"},
     .concurrency = Concurrency::serial,
     .text = "adds simulated waveforms to the raw waveforms of a file, for example of real noise"}};

void require_period(double period, double expected, const std::string& file) {
    if (std::abs(period - expected) > 1e-6 * expected) {
        throw Error(
            ErrorKind::Input,
            {.what = "the sampling periods of raw waveforms and signals differ",
             .where = file,
             .seen = std::to_string(period) + " ns",
             .expected = std::to_string(expected) + " ns",
             .hint = "take the detector whose raw data have these ticks, such as -A detname=pdhd-data"});
    }
}

/// Rows of a raw frame and of the signals that have the same channel.
struct CommonRows {
    std::vector<std::int64_t> raw, signals;
    std::vector<int> channels;
};

/// @param channels  of the signals, ascending
CommonRows common_rows(const std::vector<int>& of_raw, const at::Tensor& channels) {
    const auto* begin = channels.const_data_ptr<std::int32_t>();
    const auto* end = begin + channels.numel();
    CommonRows rows;
    for (std::size_t row = 0; row < of_raw.size(); ++row) {
        const auto* found = std::lower_bound(begin, end, of_raw[row]);
        if (found != end && *found == of_raw[row]) {
            rows.raw.push_back(static_cast<std::int64_t>(row));
            rows.signals.push_back(found - begin);
            rows.channels.push_back(of_raw[row]);
        }
    }
    return rows;
}

void require_common_channels(const TaggedTraces& raw, const CommonRows& rows, bool rejects_others,
                             const at::Tensor& channels, const std::string& file) {
    const std::size_t foreign = raw.channels.size() - rows.channels.size();
    if (rows.channels.empty() || (rejects_others && foreign > 0)) {
        const auto* id = channels.const_data_ptr<std::int32_t>();
        throw Error(
            ErrorKind::Input,
            {.what = "raw waveforms of channels that do not belong to the anode",
             .where = file,
             .seen = std::to_string(foreign) + " of " + std::to_string(raw.channels.size()) + " channels",
             .expected =
                 "channels " + std::to_string(id[0]) + " to " + std::to_string(id[channels.numel() - 1]),
             .hint = "select the anode with -A tpcid=N; -A other_anodes=ignore skips the channels of all "
                     "others"});
    }
}

/// Add the masks of the raw waveforms. A mask that ends with the signals ends with the raw waveforms. Channels without
/// charge have raw waveforms, so the mask "missing" of the charge is left out.
/// @param of_raw    ticks count from the first sample
/// @param channels  of the result; masks of others are left out
/// @param ticks     of the raw waveforms
ChannelMasks joined_masks(const EventInfo& event, const ChannelMasks& of_raw, const std::set<int>& channels,
                          std::int64_t ticks) {
    ChannelMasks masks = masks_within(event.masks, 0, event.ticks);
    masks.erase("missing");
    for (auto& [mask, ranges] : masks) {
        for (auto& range : ranges) {
            range.end = range.end == event.ticks ? ticks : range.end;
        }
    }
    add_masks(masks, of_raw, 0);
    for (auto& [mask, ranges] : masks) {
        std::erase_if(ranges, [&](const ChannelRange& range) { return !channels.contains(range.channel); });
    }
    return masks_within(masks, 0, ticks);
}

} // namespace

at::Tensor overlay(const at::Tensor& raw, const at::Tensor& signals, int bits) {
    require_tensor(raw.dim() == 2 && (is_real(raw) || raw.scalar_type() == at::kShort), "overlay", "raw", raw,
                   "int16 or real (channel, tick)");
    require_tensor(signals.dim() == 2 && is_real(signals) && signals.size(0) == raw.size(0), "overlay",
                   "signals", signals, "real, a row for each of " + describe_tensor(raw));
    const std::int64_t ticks = std::min(raw.size(1), signals.size(1));
    const at::Tensor signal = signals.narrow(1, 0, ticks);
    at::Tensor result = raw.clone();
    at::Tensor part = result.narrow(1, 0, ticks);
    if (is_real(raw)) {
        part.add_(signal);
        return result;
    }
    const auto largest = static_cast<std::int64_t>((1 << bits) - 1);
    const at::Tensor sum = signal.add(part).round_().nan_to_num_(0.0).clamp_(0, largest).to(at::kShort);
    part.copy_(at::where(part.le(0).logical_or_(part.ge(largest)), part, sum));
    return result;
}

std::vector<std::filesystem::path> Overlay::files_read() const {
    return {find_data_file(config().inname)};
}

void Overlay::open() {
    const std::vector<std::string> tags{config().intag.empty() ? "*" : config().intag};
    m_reader = std::make_unique<JoinedFrameReader>(files_read(), tags);
}

void Overlay::begin_run(Environment&) {
    open();
}

Frame Overlay::next_frame() {
    auto frame = m_reader->next();
    if (!frame && m_reader->events() > 0) {
        open();
        frame = m_reader->next();
    }
    if (!frame) {
        reject_file_without_events(config().inname, m_reader->other_members());
    }
    if (frame->traces.size() != 1) {
        std::vector<std::string> tags;
        for (const auto& traces : frame->traces) {
            tags.push_back("'" + traces.tag + "'");
        }
        throw Error(ErrorKind::Input, {.what = "the raw waveforms have several tags",
                                       .where = config().inname,
                                       .seen = joined(tags),
                                       .expected = "one tag, or the one to use",
                                       .hint = "-A noise_tag=TAG"});
    }
    return std::move(*frame);
}

Ports Overlay::process(const Ports& inputs) {
    NVTX_SCOPED_RANGE("Overlay::add");
    const NamedTensor& signals = inputs[0]->only();
    const EventInfo& event = inputs[0]->event();
    const Frame frame = next_frame();
    const TaggedTraces& raw = frame.traces.front();
    require_period(raw.tick_ns, event.tick, config().inname);
    const CommonRows rows = common_rows(raw.channels, signals.channels->ids);
    require_common_channels(raw, rows, config().other_channels == "reject", signals.channels->ids,
                            config().inname);
    const std::int64_t ticks = raw.samples.size(1);
    if (event.ticks > ticks) {
        log::warn(name().text(), [&] {
            return "the signals of " + std::to_string(event.ticks) + " ticks end with the " +
                   std::to_string(ticks) + " ticks of the raw waveforms";
        });
    }
    auto info = std::make_shared<EventInfo>(event);
    info->start = raw.start_ns;
    info->tick = raw.tick_ns;
    info->first_tick = raw.first_tick;
    info->ticks = ticks;
    info->masks = joined_masks(event, shifted(frame.channel_masks, -std::int64_t{raw.first_tick}),
                               {rows.channels.begin(), rows.channels.end()}, ticks);
    auto channels = std::make_shared<ChannelTable>();
    channels->ids = at::tensor(rows.channels, at::kInt).unsqueeze(0);
    channels->good = at::ones(channels->ids.sizes(), at::kBool);
    NamedTensor adc = signals;
    adc.name = config().output;
    adc.data = overlay(raw.samples.index_select(0, at::tensor(rows.raw)),
                       signals.data.index_select(0, at::tensor(rows.signals)), config().bits);
    adc.axes[1] = {"tick", "ns", raw.start_ns + raw.first_tick * raw.tick_ns, raw.tick_ns};
    adc.channels = std::move(channels);
    adc.notes.erase("missing"); // see joined_masks()
    merge_notes(adc.notes, frame.notes);
    return {std::make_shared<const TensorSet>(std::move(info), std::vector{std::move(adc)})};
}

} // namespace spng
