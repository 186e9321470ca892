#pragma once
// SPNGThresholdROIs: where a channel exceeds its noise.

#include "spng/graph/node.h"

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace spng {

struct ThresholdROIsConfig {
    std::vector<double> threshold_rms_factor = {3};
    double nominal = 0;
    std::string rms = "robust";
    std::string output = "regions";
    static constexpr auto fields() {
        using C = ThresholdROIsConfig;
        return std::make_tuple(
            field(&C::threshold_rms_factor, "threshold_rms_factor", "1", Range{.low = 0, .required = true},
                  "threshold in units of the channel's noise RMS, of each view or one for all of them"),
            field(&C::nominal, "nominal", "electrons", any(),
                  "added to the threshold; with a factor of 0 it is the threshold"),
            field(&C::rms, "rms", "", one_of("robust", "plain"),
                  "robust: from percentiles, then without samples beyond 5 sigma; plain: standard deviation "
                  "with all signal"),
            field(&C::output, "output", "", required(), "name of the output tensor"));
    }
};

/// mask = x > nominal + factor sigma_channel. Dead channels have no regions.
/// @param waveform  (view, channel, tick) real
/// @param sigma     (view, channel)
/// @param factors   (view or 1) real, on the device of the waveform
/// @param good      (view, channel) bool
/// @return bool, shape of the waveform
at::Tensor threshold_regions(const at::Tensor& waveform, const at::Tensor& sigma, const at::Tensor& factors,
                             double nominal, const at::Tensor& good);

/// In: waveform (view, channel, tick). Out: its regions, bool of the same shape, with the RMS of each channel
/// as summary.
class ThresholdROIs : public NodeWith<ThresholdROIsConfig> {
protected:
    void prepare_node(Environment& environment) override;
    Ports process(const Ports& inputs) override;

private:
    at::Tensor m_factors;
};

} // namespace spng
