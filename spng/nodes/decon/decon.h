// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGDecon: deconvolve the ADC waveforms of a view group to the spectrum of the charge.

#include "spng/device/memory/tensors_by_length.h"
#include "spng/graph/tensor_node.h"

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
    bool few_rows = true;
    static constexpr auto fields() {
        using C = DeconConfig;
        return std::make_tuple(
            field(&C::frer_spectrum, "frer_spectrum", "", required(),
                  "names of TorchFRERSpectrum components, one per view or one for all"),
            field(&C::wire_filter, "wire_filter", "", required(),
                  "names of Torch1DSpectrum components for the filter along channels, one "
                  "per view or one for all"),
            field(&C::channels, "channels", "channels", required(at_least(1)), "channels of a view"),
            field(&C::pad_wire_domain, "pad_wire_domain", "", any(),
                  "true: pad channels for a linear convolution (unwrapped planes); false: "
                  "cyclic convolution (wrapped planes)"),
            field(&C::few_rows, "few_rows", "", any(),
                  "true: from a readout with few channels make only the rows around them, on "
                  "the CPU"));
    }
};

/// In: waveforms (view, channel, tick) [ADC]. Out: "spectrum" (view, channel, frequency) complex [electrons],
/// on a padded time axis. Formulas in waveform_spectrum.h, interpolated_rows.h and deconvolution.h. On the CPU, with
/// `few_rows`, the output has only the rows of row_band.h, and the convolution along their channels is linear.
class Decon : public TensorNode<DeconConfig> {
protected:
    void prepare_node(Environment& environment) override;
    NamedTensor step(NamedTensor adc, const EventInfo& event) override;

private:
    /// Return the deconvolution kernels of all views on the device for readouts of `ticks`. They are computed
    /// once per padded length.
    at::Tensor kernel_for(std::int64_t ticks);
    /// Return the same for another length of the transform along channels.
    at::Tensor kernel_for_band(std::int64_t ticks, std::int64_t padded_channels);
    /// Return the kernels (view or 1, padded channel, frequency) on the host.
    at::Tensor make_kernel(std::int64_t padded_ticks, std::int64_t padded_channels) const;
    /// Return the length of the transform along channels.
    std::int64_t padded_channels() const;

    std::vector<const TorchFRERSpectrum*> m_responses;
    std::vector<const Torch1DSpectrum*> m_wire_filters;
    /// By padded ticks; shared with the nodes that have equal kernels.
    std::shared_ptr<TensorsByLength> m_kernels;
    /// By padded ticks and channels. Bands are for the CPU, where only the latest kernel is kept.
    TensorsByLength m_band_kernels;
};

} // namespace spng
