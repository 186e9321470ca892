// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spng/core/tensor_set.h"
#include "spng/instrument/report/input_report.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace spng {

/// Warns if a step that masks channels masks a large share of a view. Thread-safe.
class MaskedShareWatch {
public:
    /// @param step   name in the argument noise_filter
    /// @param kinds  of masked channels, as words of the warning
    MaskedShareWatch(std::string step, std::vector<std::string> kinds)
        : m_step(std::move(step)), m_kinds(std::move(kinds)) {}

    /// Warn once per view if the masked channels of an event are more than a share of it; on a device when its values
    /// arrive, in the report that is returned. The watch must live as long as the job.
    /// @param counts     (1 + kind, view) int64: channels that the step has judged, and masked ones of each kind
    /// @param max_share  of the judged channels
    /// @throws Error(Input) with --strict
    Reports observe(const std::string& node, const ChannelTable& channels, const at::Tensor& counts,
                    double max_share);

    instrument::InputReport report() const;

private:
    void look_at(const std::string& node, const at::Tensor& counts, const std::vector<std::string>& views,
                 double max_share);

    std::string m_step;
    std::vector<std::string> m_kinds;
    mutable std::mutex m_mutex;
    std::set<std::size_t> m_warned; ///< indices of views
    std::vector<std::string> m_warnings;
};

/// Return the counts of a step whose only kind are channels that are bad in more than half of the readout.
/// @param good   (view, channel) bool: the channels that the step has judged
/// @param ticks  (view, channel, range, 2) int32: the bad ticks that it has found
at::Tensor mostly_bad_counts(const at::Tensor& good, const at::Tensor& ticks, std::int64_t length);

} // namespace spng
