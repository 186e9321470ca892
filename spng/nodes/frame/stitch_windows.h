// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGStitchWindows: turn the overlapping readout windows of a long readout into adjacent frames.

#include "spng/graph/node.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace spng {

struct StitchWindowsConfig {
    std::vector<std::string> tags = {"signal"};
    std::vector<std::string> region_tags = {"signal"};
    std::string roi = "roi";
    static constexpr auto fields() {
        using C = StitchWindowsConfig;
        return std::make_tuple(
            field(&C::tags, "tags", "", not_empty(), "tags of the output"),
            field(&C::region_tags, "region_tags", "", any(),
                  "subset of tags that is zero outside the ROIs; each ROI is taken whole "
                  "from the readout window in whose core it begins"),
            field(&C::roi, "roi", "", not_empty(), "tag of the ROI mask; not used without region_tags"));
    }
};

/// Return for each row how many ticks from `tick` on belong to the run of ones that covers tick - 1; 0 if
/// tick - 1 is not set.
/// @param mask  (channel, tick) int16 on the host, 0 or 1
/// @param tick  1 to the number of ticks of the mask
/// @return (channel) int64
at::Tensor ticks_beyond(const at::Tensor& mask, std::int64_t tick);

/// In: events with (channel, tick) tensors on the host. Out: the core of each readout window, with the times
/// and channel masks of the core. Whole readouts pass unchanged. In the tensors of `region_tags`, an ROI of
/// the previous readout window that crosses into this core replaces the ticks of this core, as far as the
/// previous one contains it. So every tick and every ROI comes from one readout window
/// (docs/decisions/long-readouts.md). If the previous one failed, a warning names the missing ticks, and ROIs
/// that began in it are taken from this one.
class StitchWindows : public NodeWith<StitchWindowsConfig> {
protected:
    void configured() override;
    void begin_run(Environment&) override { m_carry.reset(); }
    Ports process(const Ports& inputs) override;

private:
    /// ROIs that cross the end of the previous window's core.
    struct Carry {
        ReadoutWindow window;
        double end_ns = 0;                      ///< end of the core
        at::Tensor ticks;                       ///< (channel) int64, length after the end of the core
        std::map<std::string, at::Tensor> rois; ///< (channel, tick) from the end of the core on, by tag
    };
    bool is_region_tag(const std::string& tag) const;
    /// Return whether `window` directly follows the carried one; warn about missing windows.
    bool is_next(const ReadoutWindow& window, double core_start_ns) const;
    Carry carry_of(const TensorSet& set, double end_ns) const;

    std::optional<Carry> m_carry;
};

} // namespace spng
