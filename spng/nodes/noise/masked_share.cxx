// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/noise/masked_share.h"

#include "spng/core/log/input_warning.h"
#include "spng/graph/reported.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/stack.h>

#include <cstdio>

namespace spng {

Reports MaskedShareWatch::observe(const std::string& node, const ChannelTable& channels,
                                  const at::Tensor& counts, double max_share) {
    Reports reports;
    // A CUDA graph may keep this for events of later runs.
    const auto look = [this, node, views = channels.views, max_share](const at::Tensor& values) {
        look_at(node, values, views, max_share);
        return Notes{};
    };
    reported(node, counts, channels.ids, look, reports);
    return reports;
}

void MaskedShareWatch::look_at(const std::string& node, const at::Tensor& counts,
                               const std::vector<std::string>& views, double max_share) {
    const at::Tensor values = counts.contiguous();
    const auto* value = values.const_data_ptr<std::int64_t>();
    const std::lock_guard lock(m_mutex);
    for (std::size_t view = 0; view < views.size(); ++view) {
        std::int64_t masked = 0;
        std::string seen;
        for (std::size_t kind = 0; kind < m_kinds.size(); ++kind) {
            const auto count = value[(kind + 1) * views.size() + view];
            masked += count;
            seen += (kind > 0 ? " and " : "") + std::to_string(count) + " " + m_kinds[kind];
        }
        const auto judged = value[view];
        if (static_cast<double>(masked) <= max_share * static_cast<double>(judged) ||
            !(is_strict() || m_warned.insert(view).second)) {
            continue;
        }
        char limit[32];
        std::snprintf(limit, sizeof limit, "%.3g %%", 100 * max_share);
        m_warnings.push_back(warn_about_input(
            node,
            {.what = "the step " + m_step + " masks many channels of a view",
             .where = "view " + views[view],
             .seen = seen + " of " + std::to_string(judged) + " channels",
             .expected = std::string("at most ") + limit + " of the channels that are present and not masked",
             .hint = "compare the noise with the files of the detector (gain, noise spectra, boards "
                     "that share noise); allow a larger share with -A max_bad_share=SHARE, or keep the "
                     "channels with another -A noise_filter"}));
    }
}

instrument::InputReport MaskedShareWatch::report() const {
    const std::lock_guard lock(m_mutex);
    instrument::InputReport report;
    report.warnings = m_warnings;
    return report;
}

at::Tensor mostly_bad_counts(const at::Tensor& good, const at::Tensor& ticks, std::int64_t length) {
    const auto bad = (ticks.select(-1, 1) - ticks.select(-1, 0)).sum(-1) * 2 > length;
    return at::stack({good.sum(-1), (good & bad).sum(-1)});
}

} // namespace spng
