#pragma once
// Waveforms of channels from charge at impact positions: each row of charge with the response of its
// position, summed over the wire regions around each wire and over the wires of each channel.

#include "spng/nodes/sim/signal/charge_binning.h"
#include "spng/nodes/sim/signal/readout_plane.h"

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace spng {

/// The constants of one plane in the form that the operator takes.
struct ImpactConvolution {
    at::Tensor kernel;     ///< (region, row, tick) real [ADC per electron]
    at::Tensor first_wire; ///< int32 (channel + 1), on the host
    at::Tensor wires;      ///< int32 (wire), on the host: places, by channel
};

/// @param kernel  (region, row, tick), an odd number of regions. Samples below `negligible` of the largest
///                one count as zero: far from the wires a response is long and without weight
ImpactConvolution make_impact_convolution(const ReadoutPlane& plane, const at::Tensor& kernel,
                                          double negligible, at::Device device, at::ScalarType type);

/// out(c, t) = sum over wires w of channel c, regions k, rows i, ticks s of
///             kernel(k + regions / 2, i, t - s) electrons(w + k, i, s)
/// The response of places outside the image is left out. On the CPU the sparse image is convolved in time, in
/// an order that does not depend on the number of threads; on other devices by Fourier transform of the whole
/// image. One operator call: spng::impact_convolution.
/// @param first_tick  tick of the image's first sample; output starts at tick 0
/// @return (channel, ticks) on the device and of the type of the kernel
at::Tensor impact_convolution(const ChargeImage& image, const ImpactConvolution& plane,
                              std::int64_t first_tick, std::int64_t ticks);

/// The operator in ATen operations, for devices without an own kernel.
/// @param electrons  float32 (value), runs int32 (run, 4), first_run int32 (place + 1): the members of
///                   ChargeImage, on the host
at::Tensor impact_convolution_composite(const at::Tensor& electrons, const at::Tensor& runs,
                                        const at::Tensor& first_run, const at::Tensor& kernel,
                                        const at::Tensor& first_wire, const at::Tensor& wires,
                                        std::int64_t first_tick, std::int64_t ticks);

} // namespace spng
