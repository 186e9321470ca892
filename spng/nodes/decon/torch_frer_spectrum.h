#pragma once
// Field response times electronics response ("FRER") of one plane, as the spectrum that the deconvolution
// divides by.

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
                  "name of the ColdElecResponse component"),
            field(&C::fr_plane_id, "fr_plane_id", "", between(0, 2),
                  "plane of the field response: 0 U, 1 V, 2 W"),
            field(&C::readout_period, "readout_period", "ns", above(0), "sampling period of the waveforms"),
            field(&C::adc_per_voltage, "ADC_mV", "1/MV",
                  Range{.low = 0, .low_is_open = true, .required = true},
                  "ADC counts per unit of voltage, after any gain behind the preamplifier: 2^bits / full "
                  "scale"),
            field(&C::default_nticks, "default_nticks", "ticks", at_least(1),
                  "readout length that spectra are prepared for"),
            field(&C::rebin, "rebin", "ticks", at_least(1),
                  "the time axis is padded to a multiple of this, for filters that come back at a coarser "
                  "sampling"),
            field(&C::average, "average", "", one_of("rounded", "compat"),
                  "impact positions of the field response: rounded to those that exist, or truncated to 1 % "
                  "of the pitch "
                  "as existing programs do (for comparison only: 0.5 % of the collection charge is lost)"));
    }
};

class TorchFRERSpectrum : public ServiceWith<TorchFRERSpectrumConfig> {
public:
    void prepare(Environment& environment) override;

    /// The response to one electron: (wire, tick) float64 [ADC], wire of interest in the middle row
    /// (spng.md 5.3).
    const at::Tensor& kernel() const { return m_kernel; }

    /// Ticks from the start of the response, the response plane, to the wires: drift origin / speed / period,
    /// rounded.
    std::int64_t roll_ticks() const { return m_roll; }

    /// Length of the transform for a readout of `ticks`: room for the linear convolution, a fast size, and a
    /// multiple of the configured `rebin` so that coarser inverse transforms exist.
    std::int64_t padded_ticks(std::int64_t ticks) const;

    /// Half spectrum of the zero-padded kernel with the wire of interest at row 0 and the wires below it at
    /// the end, so that deconvolution shifts no channel.
    /// @param channels  rows of the transform, at least those of the kernel
    /// @param padded_ticks  samples of the transform, at least those of the kernel
    /// @return (channels, padded_ticks / 2 + 1) complex128 [ADC per electron] on the host
    /// Throws Error(Configuration) when the kernel does not fit.
    at::Tensor spectrum(std::int64_t channels, std::int64_t padded_ticks) const;

    /// Provenance for the output: the file of the field response.
    const Notes& notes() const { return m_notes; }

    /// What a node makes of this response and of its own settings. Nodes that name equal settings, such as
    /// those of several anodes, share it. Thread-safe.
    /// @param settings  all that the tensors depend on besides this component and the length
    std::shared_ptr<TensorsByLength> shared_by(const std::string& settings) const;

private:
    at::Tensor m_kernel;
    Notes m_notes;
    std::int64_t m_roll = 0;
    mutable std::mutex m_mutex;
    mutable std::map<std::string, std::shared_ptr<TensorsByLength>> m_shared;
};

} // namespace spng
