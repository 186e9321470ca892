// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/decon/planned_spectra.h"

#include "spng/detector/fft_size.h"

namespace spng {

std::int64_t planned_frequencies(std::int64_t ticks) {
    constexpr std::int64_t response_ticks = 280; // of the detectors in cfg/detectors, 130 us and more
    return fast_fft_size(ticks + response_ticks, 4) / 2 + 1;
}

std::int64_t planned_channels(std::int64_t channels, bool is_padded) {
    constexpr std::int64_t response_wires = 20; // besides the wire of interest
    return is_padded ? fast_fft_size(channels + response_wires) : channels;
}

} // namespace spng
