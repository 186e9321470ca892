// SPDX-License-Identifier: Apache-2.0
#pragma once
// Statistics across the channels of a view (docs/decisions/few-channels.md).

#include <cstdint>

namespace spng {

/// Good channels that a view must have before its noise is measured from them. With fewer, the noise spectra of the
/// detector predict the noise, because one track may raise the RMS of most of these channels.
inline constexpr std::int64_t min_measured_channels = 10;

} // namespace spng
