// SPDX-License-Identifier: Apache-2.0
#pragma once
// Findings about channels that a device has checked (docs/decisions/streams.md).

#include "spng/core/tensor_set.h"
#include "spng/detector/resample.h"
#include "spng/nodes/channels/channel_selection.h"
#include "spng/nodes/input_check/input_tally.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace spng {

/// The parts of an event that are kept until its flags are on the host.
struct LateInput {
    struct Group {
        const ViewGroup* group;
        std::int64_t first_row; ///< of the group in the rows of all groups
    };
    std::string node;           ///< its name, for errors
    std::uint64_t event = 0;    ///< index in the job
    at::Tensor samples;         ///< the frame on the host
    at::Tensor rows, is_masked; ///< (row of all groups), see findings_of()
    std::vector<Group> groups;
    std::vector<ChannelRange> bad; ///< as for select_channels()
    std::optional<Rails> rails;
    double largest = 0;
    PeriodRatio ratio; ///< of the ticks of the frame and those of the masks
    std::shared_ptr<InputTally> tally;
};

/// Return the masks "missing", "nan", "outofrange" and "saturated" of one event, equal to those of an event on the CPU, count
/// the event, and warn (InputTally). Samples are read on the host, in rows that need it.
/// @param flags  (row of all groups) uint8 on the host, see findings_of()
/// @throws Error(Input), named as one of the node, with --strict
Found late_findings(const LateInput& input, const at::Tensor& flags);

/// View the rows of a group as (view, channel, ...).
/// @param rows   (row of all groups, ...), contiguous
/// @param first  the group's first row
at::Tensor rows_of_group(const at::Tensor& rows, const ViewGroup& group, std::int64_t first);

/// Append the findings about a group to the masks of its event.
void add_findings(ChannelMasks& masks, const ChannelFindings& findings);

} // namespace spng
