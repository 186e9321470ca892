// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGImageNoise: predict the noise of the channels in a filtered image from the detector's noise spectra
// (docs/physics-notes.md#expected-noise-of-an-image).

#include "spng/core/component.h"
#include "spng/io/data_file_reader.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace spng {

struct ImageNoiseConfig {
    std::string groups = "SPNGViewGroups";
    std::string group;
    std::vector<std::string> frer_spectrum;
    std::string wire_filter;
    std::vector<std::string> base_spectrum_name;
    std::int64_t rebin = 1;
    std::string spectra;
    double gain = 0;
    static constexpr auto fields() {
        using C = ImageNoiseConfig;
        return std::make_tuple(
            field(&C::groups, "groups", "", not_empty(), "name of the SPNGViewGroups component"),
            field(&C::group, "group", "", required(), "name of the view group of the image"),
            field(&C::frer_spectrum, "frer_spectrum", "", required(),
                  "names of the TorchFRERSpectrum components of the deconvolution, one per view"),
            field(&C::wire_filter, "wire_filter", "", not_empty(),
                  "name of the Torch1DSpectrum component of the deconvolution's filter along channels"),
            field(&C::base_spectrum_name, "base_spectrum_name", "", required(),
                  "names of the Torch1DSpectrum components of the image's filter along ticks, one per view"),
            field(&C::rebin, "rebin", "ticks", at_least(1), "ticks per sample of the image"),
            field(&C::spectra, "spectra", "", any(),
                  "file of measured noise spectra; empty or missing, or without a plane of the group: the "
                  "noise is not known"),
            field(&C::gain, "gain", "MV/e", at_least(0),
                  "gain of the electronics, to which the spectra are scaled; 0: they are taken as they are"));
    }
};

/// Return the mean square of the noise of a channel between channels with equal, independent noise, after deconvolution
/// and filters, for noise of unit power at each frequency:
///     w_k = |G_k|^2 mean over q of |H(q, k)|^2, twice for frequencies of both signs, 0 for k = 0, over (N / rebin)^2.
/// @param kernel  (padded channel, frequency) complex128: H of deconvolution_kernel()
/// @param filter  (N / (2 rebin) + 1) complex128: G of time_filter()
/// @param length  N / rebin
/// @return (N / (2 rebin) + 1) float64
at::Tensor noise_weights(const at::Tensor& kernel, const at::Tensor& filter, std::int64_t length);

class ImageNoise : public ServiceWith<ImageNoiseConfig>, public DataFileReader {
public:
    void prepare(Environment& environment) override;

    /// Return the expected RMS (view, channel) float64 on the host [electrons]; undefined without spectra of all views.
    const at::Tensor& rms() const { return m_rms; }

private:
    const std::string& data_file_name() const override { return config().spectra; }

    at::Tensor m_rms;
};

} // namespace spng
