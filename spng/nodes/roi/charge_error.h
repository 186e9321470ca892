// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGChargeError: error of the charge of each ROI from the noise of its channel
// (docs/physics-notes.md#charge-error).

#include "spng/graph/node.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace spng {

/// Baseline of SPNGApplyROI whose noise is a part of the error.
enum class Baseline { linear, restored };

/// Return the error of each sample inside ROIs; outside 0. All samples of an ROI of n ticks have the value
///     sigma / sqrt(n),   sigma^2 = variance of the sum of the ROI's charge after its baseline,
/// so that the sum of the squares over the ticks of an ROI is the variance of its charge.
///
/// The variance follows from the variogram of the noise, measured on the ticks outside of ROIs: its size on
/// each channel, and its shape as the mean over channels of the view. Charge that is lost, ROIs that follow
/// fluctuations of the noise, and the bend of ROIs with a negative sum are not in it. A channel with too few ticks outside of ROIs has the
/// median size of its view. Only good channels have a part in what is measured for the view.
/// @param waveform  (view, channel, tick) float32 or float64, finite
/// @param mask      (view, channel, word) int64, packed by pack_ticks: tick k is in slice k / factor
/// @param good      (view, channel) bool
/// @param factor    ticks per slice, at least 1
/// @param baseline  that is subtracted inside the ROIs: apply_regions_linear or apply_regions_restored
/// @return (view, channel, slice), type of the waveform: the value of each tick of the slice; inf inside the ROIs
///         of a view without noise to measure
/// @throws Error(Internal) if shapes or types do not fit
at::Tensor charge_error(const at::Tensor& waveform, const at::Tensor& mask, const at::Tensor& good,
                        std::int64_t factor, Baseline baseline);

struct ChargeErrorConfig {
    std::string baseline = "linear";
    std::string roi = "roi";
    std::string output = "error";
    static constexpr auto fields() {
        using C = ChargeErrorConfig;
        return std::make_tuple(
            field(&C::baseline, "baseline", "", one_of("linear", "restored"),
                  "baseline that SPNGApplyROI subtracts from the same waveform"),
            field(&C::roi, "roi", "", not_empty(), "name of the mask in the set at port 1"),
            field(&C::output, "output", "", not_empty(), "name of the output tensor"));
    }
};

/// In: port 0: waveform (view, channel, tick) [electrons] without ROIs; port 1: mask of the same channels, at
/// the same or a coarser sampling. Out: error (view, channel, sample) [electrons per tick] at the sampling of
/// the mask, see charge_error(). For a readout window of a long readout also the mask, which
/// SPNGStitchWindows needs.
class ChargeError : public NodeWith<ChargeErrorConfig> {
protected:
    Ports process(const Ports& inputs) override;
};

} // namespace spng
