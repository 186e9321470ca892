#pragma once
// SPNGDigitizer: from waveforms in ADC counts above the baseline to what the digitiser writes.

#include "spng/graph/node.h"

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace spng {

struct DigitizerConfig {
    std::string anode = "AnodePlane";
    std::vector<double> baselines;
    int bits = 14;
    std::string output = "*";
    static constexpr auto fields() {
        using C = DigitizerConfig;
        return std::make_tuple(
            field(&C::anode, "anode", "", not_empty(), "name of the AnodePlane component"),
            field(&C::baselines, "baselines", "ADC", Range{.low = 0, .required = true},
                  "count at zero voltage, by plane"),
            field(&C::bits, "bits", "bits", between(1, 15), "counts go from 0 to 2^bits - 1"),
            field(&C::output, "output", "", not_empty(), "name of the result, the tag in a frame file"));
    }
};

/// min(max(floor(v + baseline), 0), 2^bits - 1), as int16. A sample that is not a number becomes 0.
/// @param waveforms  real (channel, tick) [ADC]
/// @param baselines  real (channel) [ADC]
at::Tensor digitize(const at::Tensor& waveforms, const at::Tensor& baselines, int bits);

/// In: waveforms (channel, tick) [ADC above the baseline] of an anode, all its channels in ascending order,
/// on the host. Out: int16 ADC counts.
class Digitizer : public NodeWith<DigitizerConfig> {
protected:
    void configured() override;
    void prepare_node(Environment& environment) override;
    Ports process(const Ports& inputs) override;

private:
    at::Tensor m_baselines; ///< (channel) float32
};

} // namespace spng
