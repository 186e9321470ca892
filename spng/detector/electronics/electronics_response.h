// SPDX-License-Identifier: Apache-2.0
#pragma once
// Response of the electronics, preamplifier and shaper, to a short pulse of charge.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace spng {

enum class ElectronicsModel {
    cold,   ///< in the argon
    warm,   ///< outside of the cryostat, as in ICARUS
    sampled ///< samples of a measurement or a simulation
};

struct Electronics {
    ElectronicsModel model = ElectronicsModel::cold;
    double gain = 14.0; ///< mV/fC; cold: peak of the response, warm: 2.044 times its peak, sampled: not used
    double shaping = 2200;            ///< ns, nominal peaking time; sampled: time of the largest sample
    double postgain = 1.0;            ///< factor of later stages
    std::vector<double> times{};      ///< of samples, in units of the shaping time, increasing
    std::vector<double> amplitudes{}; ///< samples, as many as times [mV/fC]
};

/// Return electronics with these samples.
/// @param times       [ns], increasing
/// @param amplitudes  [mV/fC], as many as times; the largest is at a positive time
Electronics sampled_electronics(std::vector<double> times, std::vector<double> amplitudes, double postgain);

/// Return the output [mV/fC] at `time` [ns] after a short pulse of charge. Models are 0 outside 0 < time < 10 us;
/// samples are interpolated linearly and 0 outside of their times. The default electronics peaks at 2.58 us with
/// 14.000 mV/fC. Formulas: docs/physics-notes.md#electronics-response.
double electronics_response(const Electronics& electronics, double time);

/// Return the response at the bin centres (i + 1/2) `period` [ns]: (sample) float64 [mV/fC].
at::Tensor sample_electronics_response(const Electronics& electronics, double period, std::int64_t samples);

} // namespace spng
