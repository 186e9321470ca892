#pragma once
// SPNGStitchWindows: from overlapping windows of a long readout to frames that follow each other.

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
        return std::make_tuple(field(&C::tags, "tags", "", not_empty(), "tensors of the output"),
                               field(&C::region_tags, "region_tags", "", any(),
                                     "those of them that are zero outside the regions: a region is taken "
                                     "whole from the window in whose core it begins"),
                               field(&C::roi, "roi", "", not_empty(),
                                     "the mask of the regions; not needed without region_tags"));
    }
};

/// For each row, for how many ticks from `tick` on the run that covers tick - 1 goes on; 0 where tick - 1 is
/// not set.
/// @param mask  (channel, tick) int16 on the host, 0 or 1
/// @param tick  1 to the number of ticks
/// @return (channel) int64
at::Tensor ticks_beyond(const at::Tensor& mask, std::int64_t tick);

/// In: events of (channel, tick) tensors on the host. Out: those that are no windows as they are; of a window
/// its core, with the times and channel masks of the core. In the tensors made of regions, the ticks into
/// which regions of the window before reach, as that window saw them, are taken from it: every tick comes
/// from one window, and a region from one window as far as that sees (docs/decisions/long-readouts.md). When
/// the window before is missing, because it failed, the log says which ticks the output lacks, and a region
/// that began in it is taken from this window.
class StitchWindows : public NodeWith<StitchWindowsConfig> {
protected:
    void configured() override;
    Ports process(const Ports& inputs) override;

private:
    /// What the last window saw beyond its core.
    struct Carry {
        ReadoutWindow window;
        double end_ns = 0;                         ///< of the core
        at::Tensor ticks;                          ///< (channel) int64, from the core's end on
        std::map<std::string, at::Tensor> regions; ///< (channel, tick), by tag
    };
    bool is_region_tag(const std::string& tag) const;
    /// Whether the carry is of the window right before this one; says what is missing if not.
    bool is_next(const ReadoutWindow& window, double core_start_ns) const;
    Carry carry_of(const TensorSet& set, double end_ns) const;

    std::optional<Carry> m_carry;
};

} // namespace spng
