// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGApply1DSpectrum: filter a spectrum along ticks and transform it back to time.

#include "spng/device/memory/tensors_by_length.h"
#include "spng/graph/tensor_node.h"

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace spng {

class TorchFRERSpectrum;
class Torch1DSpectrum;

struct Apply1DSpectrumConfig {
    std::vector<std::string> base_spectrum_name;
    std::string frer_spectrum;
    std::int64_t rebin = 1;
    std::string output = "filtered";
    static constexpr auto fields() {
        using C = Apply1DSpectrumConfig;
        return std::make_tuple(
            field(&C::base_spectrum_name, "base_spectrum_name", "", required(),
                  "names of Torch1DSpectrum components for the filter along ticks, one per view or one for "
                  "all"),
            field(&C::frer_spectrum, "frer_spectrum", "", required(),
                  "name of the TorchFRERSpectrum of the deconvolution; it gives the shift of the charge to "
                  "its arrival time at the wires"),
            field(&C::rebin, "rebin", "ticks", at_least(1),
                  "ticks per output sample; a sample is the mean over its ticks"),
            field(&C::output, "output", "", not_empty(),
                  "name of the output tensor: gauss, tight, loose, wiener")
                .or_wct("output_tensor_tag"));
    }
};

/// In: spectrum (view, channel, frequency) [electrons] from SPNGDecon.
/// Out: waveforms (view, channel, sample) [electrons]. Formulas in time_filter.h.
class Apply1DSpectrum : public TensorNode<Apply1DSpectrumConfig> {
protected:
    void prepare_node(Environment& environment) override;
    NamedTensor step(NamedTensor spectrum, const EventInfo& event) override;

private:
    /// Return the filter (view or 1, 1, frequency) on the device. It is computed once per length.
    at::Tensor filter_for(std::int64_t padded_ticks);

    const TorchFRERSpectrum* m_response = nullptr;
    std::vector<const Torch1DSpectrum*> m_spectra;
    TensorsByLength m_filters; ///< by padded ticks
};

} // namespace spng
