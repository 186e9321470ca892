// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/channels/late_findings.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/error.h"
#include "spng/nodes/channels/channel_ranges.h"

#include <utility>
#include <vector>

namespace spng {
namespace {

void append(ChannelMasks& masks, const std::string& name, const std::vector<ChannelRange>& ranges) {
    if (!ranges.empty()) {
        auto& list = masks[name];
        list.insert(list.end(), ranges.begin(), ranges.end());
    }
}

} // namespace

at::Tensor rows_of_group(const at::Tensor& rows, const ViewGroup& group, std::int64_t first) {
    auto shape = group.ids.sizes().vec();
    const std::int64_t stride = rows.stride(0);
    std::vector<std::int64_t> strides{shape[1] * stride, stride};
    shape.insert(shape.end(), rows.sizes().begin() + 1, rows.sizes().end());
    strides.insert(strides.end(), rows.strides().begin() + 1, rows.strides().end());
    // One operator; narrow and view would be four.
    return rows.as_strided(shape, strides, rows.storage_offset() + first * stride);
}

void add_findings(ChannelMasks& masks, const ChannelFindings& findings) {
    append(masks, "missing", findings.missing);
    append(masks, "nan", findings.not_finite);
    append(masks, "outofrange", findings.out_of_range);
    append(masks, "saturated", findings.saturated);
}

namespace {

Found masks_and_notes(const LateInput& input, const at::Tensor& flags) {
    NVTX_SCOPED_RANGE("FrameToTorchSetFanout::check");
    ChannelMasks masks;
    std::vector<InputTally::Selected> found;
    for (const LateInput::Group& group : input.groups) {
        const at::Tensor& ids = group.group->ids;
        const auto part = [&](const at::Tensor& all) {
            return rows_of_group(all, *group.group, group.first_row);
        };
        const at::Tensor rows = part(input.rows);
        ChannelFindings findings =
            findings_of(part(flags), input.samples, rows, ids, part(input.is_masked), input.rails);
        add_findings(masks, findings);
        const auto waveforms = [&input, &ids, rows](EveryChannel channels) {
            const auto part_of = [&](const at::Tensor& all) {
                return all.slice(1, channels.first, std::nullopt, channels.stride).contiguous();
            };
            at::Tensor own = part_of(ids);
            SelectedChannels selected =
                select_channels(input.samples, part_of(rows), own, input.bad, input.rails, input.largest);
            return InputTally::Waveforms{std::move(selected.waveforms), std::move(selected.good),
                                         std::move(own)};
        };
        found.push_back({group.group, waveforms, std::move(findings.counts)});
    }
    Notes notes = input.tally->add(input.event, found);
    return {resampled(std::move(masks), input.ratio), std::move(notes)};
}

} // namespace

Found late_findings(const LateInput& input, const at::Tensor& flags) {
    try {
        return masks_and_notes(input, flags);
    } catch (Error& error) {
        error.add_where(input.node + ", event " + std::to_string(input.event));
        throw;
    }
}

} // namespace spng
