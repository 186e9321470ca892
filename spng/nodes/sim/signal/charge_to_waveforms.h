// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGChargeToWaveforms: convolve the charge of a view group with the response of its wires, the inverse of SPNGDecon
// (docs/physics-notes.md#charge-to-waveforms).

#include "spng/device/memory/tensors_by_length.h"
#include "spng/graph/tensor_node.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace spng {

class TorchFRERSpectrum;

struct ChargeToWaveformsConfig {
    std::vector<std::string> frer_spectrum;
    std::int64_t channels = 0;
    bool pad_wire_domain = false;
    std::string output = "adc";
    static constexpr auto fields() {
        using C = ChargeToWaveformsConfig;
        return std::make_tuple(
            field(&C::frer_spectrum, "frer_spectrum", "", required(),
                  "names of TorchFRERSpectrum components, one per view"),
            field(&C::channels, "channels", "channels", required(at_least(1)), "channels of a view"),
            field(&C::pad_wire_domain, "pad_wire_domain", "", any(),
                  "true: pad channels for a linear convolution (unwrapped planes); false: "
                  "cyclic convolution (wrapped planes)"),
            field(&C::output, "output", "", not_empty(), "name of the output tensor"));
    }
};

/// Return the response to charge at its arrival time, E(k, f) = R(k, f) exp(2 pi i f roll / N).
/// @param response  (channel, frequency) complex128: spectrum of the response [ADC per electron], which starts when the
///                  electron is at the response plane
/// @param padded_ticks  N, samples of the transform along time
/// @param roll      drift time from the response plane to the wires [ticks]
/// @return (channel, frequency) complex128
at::Tensor arrival_response(const at::Tensor& response, std::int64_t padded_ticks, std::int64_t roll);

/// Return the waveforms V(c, t) = IFFT_k,f[ FFT_c,t[ Q(c, t) ] E(k, f) ], cropped to the input. Only rounding limits the
/// agreement with the sum over wires and ticks if N is at least the ticks of Q and of the response, less one.
/// @param charge    (view, channel, tick) int16 or real [electrons], by arrival time at the wires
/// @param response  (view or 1, padded channel, frequency) complex [ADC per electron], from arrival_response()
/// @param padded_channels  length of the transform along channels. More than channels make the convolution
///                         linear, equally many make it cyclic.
/// @param padded_ticks  length of the transform along time, at least the ticks of the charge
/// @return (view, channel, tick) of the real type of the response [ADC above the baseline]
/// @throws Error(Internal) if the shapes do not fit
/// ATen's transforms, and one operator call: spng::deconvolve.
at::Tensor waveforms_of_charge(const at::Tensor& charge, const at::Tensor& response,
                               std::int64_t padded_channels, std::int64_t padded_ticks);

/// In: charge (view, channel, tick) [electrons], by arrival time at the wires, as the output of the chain. Out: the
/// waveforms [ADC above the baseline], with the response of a wire averaged over impact positions. Charge of any sign is
/// accepted. Charge before or after the readout is unknown, so its part of the first and last waveforms is missing.
class ChargeToWaveforms : public TensorNode<ChargeToWaveformsConfig> {
protected:
    /// @throws Error(Configuration) if the response ends before the charge arrives at the wires
    void prepare_node(Environment& environment) override;
    /// @throws Error(Input) if the charge has another sampling period than the response
    NamedTensor step(NamedTensor charge, const EventInfo& event) override;

private:
    /// Return the responses of all views on the device for readouts of `ticks`.
    at::Tensor response_for(std::int64_t ticks);
    std::int64_t padded_channels() const;

    std::vector<const TorchFRERSpectrum*> m_responses;
    TensorsByLength m_spectra; ///< by padded ticks
};

} // namespace spng
