// SPDX-License-Identifier: Apache-2.0
#pragma once
// Waveforms of channels from charge at impact positions: convolve each row of charge with the response of its
// position, and sum over the wire regions around each wire and over the wires of each channel.

#include "spng/nodes/sim/signal/charge_binning.h"
#include "spng/nodes/sim/signal/readout_plane.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace spng {

/// Constants of one plane, in the format of the operator.
struct ImpactConvolution {
    at::Tensor kernel;     ///< (region, row, tick) real [ADC per electron]
    at::Tensor first_wire; ///< (channel + 1) int32 on the host, as in ReadoutPlane
    at::Tensor wires;      ///< (wire) int32 on the host: slots of the wires, by channel
};

/// Make the constants of one plane.
/// @param kernel      (region, row, tick), with an odd number of regions
/// @param negligible  kernel samples below this share of the largest one become 0, because responses far from
///                    the wire are long and small
ImpactConvolution make_impact_convolution(const ReadoutPlane& plane, const at::Tensor& kernel,
                                          double negligible, at::Device device, at::ScalarType type);

/// Return out(c, t) = sum over wires w of channel c, regions k, rows i, ticks s of
///                    kernel(k + regions / 2, i, t - s) electrons(w + k, i, s)
/// Slots outside of the image have no charge. On the CPU the sparse image is convolved in time, in an order
/// that does not depend on the number of threads. On other devices the whole image is convolved by Fourier
/// transforms. One operator call: spng::impact_convolution.
/// @param first_tick  tick of the first sample of the image, 0 or earlier; the output starts at tick 0
/// @return (channel, ticks) on the device and in the type of the kernel
at::Tensor impact_convolution(const ChargeImage& image, const ImpactConvolution& plane,
                              std::int64_t first_tick, std::int64_t ticks);

/// The body on devices, of ATen operations.
/// @param electrons, runs, first_run  members of ChargeImage on the host: (value) float32, (run, 4) int32 and
///                                    (slot + 1) int32
at::Tensor impact_convolution_composite(const at::Tensor& electrons, const at::Tensor& runs,
                                        const at::Tensor& first_run, const at::Tensor& kernel,
                                        const at::Tensor& first_wire, const at::Tensor& wires,
                                        std::int64_t first_tick, std::int64_t ticks);

} // namespace spng
