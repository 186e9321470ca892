// SPDX-License-Identifier: Apache-2.0
#pragma once
// Spectrum of the product of field response and electronics response (FRER) of one plane, the divisor of the
// deconvolution (docs/physics-notes.md#frer-spectrum).

#include "spng/core/component.h"
#include "spng/core/notes.h"
#include "spng/device/memory/tensors_by_length.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace spng {

struct TorchFRERSpectrumConfig {
    std::string field_response = "FieldResponse";
    std::string elec_response = "ColdElecResponse";
    int fr_plane_id = 0;
    double readout_period = 500;
    double adc_per_voltage = 0;
    std::int64_t default_nticks = 6000;
    std::int64_t rebin = 4;
    std::string average = "rounded";
    static constexpr auto fields() {
        using C = TorchFRERSpectrumConfig;
        return std::make_tuple(
            field(&C::field_response, "field_response", "", not_empty(),
                  "name of the FieldResponse component"),
            field(&C::elec_response, "elec_response", "", not_empty(),
                  "name of the ColdElecResponse, WarmElecResponse or JsonElecResponse component"),
            field(&C::fr_plane_id, "fr_plane_id", "", between(0, 2),
                  "plane of the field response: 0 U, 1 V, 2 W"),
            field(&C::readout_period, "readout_period", "ns", above(0), "sampling period of the waveforms"),
            field(&C::adc_per_voltage, "ADC_mV", "1/MV", required(above(0)),
                  "ADC counts per unit of voltage at the output of the preamplifier: 2^bits / full scale, "
                  "times any later gain"),
            field(&C::default_nticks, "default_nticks", "ticks", at_least(1),
                  "readout length for which spectra are computed before the first event"),
            field(&C::rebin, "rebin", "ticks", at_least(1),
                  "pad the time axis to a multiple of this, for filters with a coarser output sampling"),
            field(&C::average, "average", "", one_of("rounded", "compat"),
                  "impact positions of the field response. rounded: to the existing positions; compat: "
                  "truncated to 1 % of the pitch as in WCT (for comparison only, loses 0.5 % of the "
                  "collection charge)"));
    }
};

class TorchFRERSpectrum : public ServiceWith<TorchFRERSpectrumConfig> {
public:
    void prepare(Environment& environment) override;

    /// Response to one electron: (wire, tick) float64 [ADC], with the wire of interest in the middle row.
    const at::Tensor& kernel() const { return m_kernel; }

    /// Drift time from the response plane, where the response starts, to the wires: origin / speed / period,
    /// rounded [ticks].
    std::int64_t roll_ticks() const { return m_roll; }

    /// Return the transform length for a readout of `ticks`: long enough for a linear convolution, a fast FFT
    /// size, and a multiple of `rebin` for coarser inverse transforms.
    std::int64_t padded_ticks(std::int64_t ticks) const;

    /// Return the half spectrum of the zero-padded kernel. The wire of interest is in row 0 and the wires
    /// below it at the end, so that the deconvolution does not shift channels.
    /// @param channels      rows of the transform, at least those of the kernel
    /// @param padded_ticks  samples of the transform, at least those of the kernel
    /// @return (channels, padded_ticks / 2 + 1) complex128 [ADC per electron] on the host
    /// @throws Error(Configuration) if the kernel is larger
    at::Tensor spectrum(std::int64_t channels, std::int64_t padded_ticks) const;

    /// Provenance for the output: the file of the field response.
    const Notes& notes() const { return m_notes; }

    /// Return a cache for tensors that a node derives from this response. Nodes with equal settings share it,
    /// for example those of several anodes. Thread-safe.
    /// @param settings  everything the tensors depend on, except this component and the length
    std::shared_ptr<TensorsByLength> shared_by(const std::string& settings) const;

private:
    at::Tensor m_kernel;
    Notes m_notes;
    std::int64_t m_roll = 0;
    mutable std::mutex m_mutex;
    mutable std::map<std::string, std::shared_ptr<TensorsByLength>> m_shared;
};

} // namespace spng
