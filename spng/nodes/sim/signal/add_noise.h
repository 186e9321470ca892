// SPDX-License-Identifier: Apache-2.0
#pragma once
// SPNGAddNoise: add noise of wires and electronics to the waveforms of a frame.

#include "spng/device/memory/tensors_by_length.h"
#include "spng/graph/tensor_node.h"
#include "spng/io/data_file_reader.h"
#include "spng/nodes/sim/signal/noise_model.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace spng {

struct AddNoiseConfig {
    std::string anode = "AnodePlane";
    std::string spectra;
    double adc_per_voltage = 0;
    double tick = 500;
    std::int64_t nticks = 6000;
    std::int64_t seed = 1;
    double level = 1;
    double coherent_rms = 0;
    double coherent_corner = 3e-5;
    std::vector<int> coherent_channels = {40, 40, 48};
    static constexpr auto fields() {
        using C = AddNoiseConfig;
        return std::make_tuple(
            field(&C::anode, "anode", "", not_empty(), "name of the AnodePlane component"),
            field(&C::spectra, "spectra", "", required(),
                  "file of measured noise spectra, found on the data path"),
            field(&C::adc_per_voltage, "ADC_mV", "1/MV", required(above(0)),
                  "ADC counts per unit of voltage: 2^bits / full scale"),
            field(&C::tick, "tick", "ns", above(0), "sampling period"),
            field(&C::nticks, "nticks", "ticks", at_least(2),
                  "readout length for which the amplitudes are computed before the first event"),
            field(&C::seed, "seed", "", at_least(0), "seed of the random numbers"),
            field(&C::level, "level", "1", at_least(0), "factor of the measured amplitudes"),
            field(&C::coherent_rms, "coherent_rms", "ADC", at_least(0),
                  "RMS of the waveform shared by the channels of a front-end board; 0: none"),
            field(&C::coherent_corner, "coherent_corner", "1/ns", above(0),
                  "corner frequency of the shared waveform, above which its power decreases"),
            field(&C::coherent_channels, "coherent_channels", "channels", at_least(1),
                  "channels per front-end board, by plane"));
    }
};

/// In: waveforms (channel, tick) [ADC] of all channels of an anode, in ascending channel id. Out: the same
/// with noise (noise_model.h), float32. Front-end boards are consecutive blocks of `coherent_channels`
/// channels of each plane. Random numbers depend on the seed and the event's index in the job only.
class AddNoise : public TensorNode<AddNoiseConfig>, public DataFileReader {
    /// @throws Error also if the file of spectra is missing
    void check_files() const override {
        FileUser::check_files();
        find_data_file(config().spectra);
    }

protected:
    void configured() override;
    void prepare_node(Environment& environment) override;
    NamedTensor step(NamedTensor waveforms, const EventInfo& event) override;

private:
    const std::string& data_file_name() const override { return config().spectra; }

    /// The wires of a row of the frame.
    struct RowWires {
        int plane = 0;
        double length = 0; ///< [mm]
    };
    /// Return the amplitudes of all rows for readouts of `ticks`, (channel, frequency) float32 [ADC].
    at::Tensor amplitude_for(std::int64_t ticks);
    /// Return the amplitude of the shared waveforms, (board, frequency) float32 [ADC].
    at::Tensor coherent_amplitude_for(std::int64_t ticks) const;

    std::vector<NoiseSpectrum> m_spectra;
    std::vector<RowWires> m_rows;
    at::Tensor m_board; ///< (channel) int64, index of the board
    std::int64_t m_boards = 0;
    TensorsByLength m_amplitudes; ///< by ticks
};

} // namespace spng
