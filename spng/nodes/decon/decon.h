#pragma once
// SPNGDecon: ADC waveforms of a group of views in, spectrum of the charge out.

#include "spng/device/memory/tensors_by_length.h"
#include "spng/graph/node.h"

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>
#include <vector>

namespace spng {

class TorchFRERSpectrum;
class Torch1DSpectrum;

struct DeconConfig {
    std::vector<std::string> frer_spectrum;
    std::vector<std::string> wire_filter;
    std::int64_t channels = 0;
    bool pad_wire_domain = false;
    static constexpr auto fields() {
        using C = DeconConfig;
        return std::make_tuple(field(&C::frer_spectrum, "frer_spectrum", "", required(),
                                     "TorchFRERSpectrum of each view, or one for all of them"),
                               field(&C::wire_filter, "wire_filter", "", required(),
                                     "Torch1DSpectrum along channels of each view, or one for all"),
                               field(&C::channels, "channels", "channels", Range{.low = 1, .required = true},
                                     "channels of a view"),
                               field(&C::pad_wire_domain, "pad_wire_domain", "", any(),
                                     "pad channels so that the ends of the view do not touch (unwrapped "
                                     "planes); false: cyclic (wrapped planes)"));
    }
};

class Decon : public NodeWith<DeconConfig> {
protected:
    void prepare_node(Environment& environment) override;
    Ports process(const Ports& inputs) override;

private:
    /// H of all views on the device for readouts of `ticks`; built when a new padded length comes.
    at::Tensor kernel_for(std::int64_t ticks);

    std::vector<const TorchFRERSpectrum*> m_responses;
    std::vector<const Torch1DSpectrum*> m_wire_filters;
    /// by padded ticks; shared with nodes whose kernels are equal
    std::shared_ptr<TensorsByLength> m_kernels;
};

} // namespace spng
