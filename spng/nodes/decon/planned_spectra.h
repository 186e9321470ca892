// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sizes of the spectra of the deconvolution, for memory rules: services are not prepared when memory is planned.

#include <cstdint>

namespace spng {

/// Return the number of frequencies of a padded readout.
std::int64_t planned_frequencies(std::int64_t ticks);

/// Return the rows of a transform along channels.
/// @param is_padded  whether the channels are padded for a linear convolution
std::int64_t planned_channels(std::int64_t channels, bool is_padded);

} // namespace spng
