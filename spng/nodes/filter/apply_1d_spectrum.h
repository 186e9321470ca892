#pragma once
// SPNGApply1DSpectrum: a filter along ticks and the return to time.

#include "spng/device/memory/tensors_by_length.h"
#include "spng/graph/node.h"

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
                  "Torch1DSpectrum along ticks of each view, or one for all of them"),
            field(&C::frer_spectrum, "frer_spectrum", "", required(),
                  "the response that was divided by: says how far charge moves to stand at its arrival time"),
            field(&C::rebin, "rebin", "ticks", at_least(1),
                  "ticks of one output sample, which is the mean over them"),
            field(&C::output, "output", "", not_empty(),
                  "name of the output tensor: gauss, tight, loose, wiener"));
    }
};

class Apply1DSpectrum : public NodeWith<Apply1DSpectrumConfig> {
protected:
    void prepare_node(Environment& environment) override;
    Ports process(const Ports& inputs) override;

private:
    /// (view or 1, 1, frequency) on the device; built when a new length comes.
    at::Tensor filter_for(std::int64_t padded_ticks);

    const TorchFRERSpectrum* m_response = nullptr;
    std::vector<const Torch1DSpectrum*> m_spectra;
    TensorsByLength m_filters; ///< by padded ticks
};

} // namespace spng
