// SPDX-License-Identifier: Apache-2.0
#pragma once
// Host side of our operators on CUDA, under the operators' names. With libWireCellSpngCuda.so loaded, the
// dispatcher calls these functions for tensors on a CUDA device. The named headers document arguments,
// results and errors, and their functions have checked the arguments. Nothing here waits for the device or
// copies from the host, and only LibTorch allocates, so all of it can be captured in a CUDA graph.

#include <ATen/core/Tensor.h>

#include <optional>
#include <tuple>

namespace spng::kernels {

// spng/nodes/decon/waveform_spectrum.h, spng/nodes/decon/deconvolution.h, spng/nodes/filter/time_filter.h.
// Transforms that do not fit into shared memory are those of ATen, on the device.
at::Tensor waveform_spectrum(const at::Tensor& waveforms, std::int64_t padded_ticks, at::ScalarType type,
                             const std::optional<at::Tensor>& good);
at::Tensor deconvolve(const at::Tensor& spectrum, const at::Tensor& kernel);
at::Tensor apply_time_filter(const at::Tensor& spectrum, const at::Tensor& filter, std::int64_t length,
                             std::int64_t samples);

// spng/nodes/roi/robust_rms.h. Sums of float32 waveforms are in float32 with a carried rounding error.
std::tuple<at::Tensor, at::Tensor, at::Tensor> robust_noise(const at::Tensor& waveforms, double cut);
at::Tensor plain_rms(const at::Tensor& waveforms);

// spng/nodes/coincidence/bit_ticks.h
at::Tensor pack_ticks(const at::Tensor& mask);
at::Tensor pack_above(const at::Tensor& waveform, const at::Tensor& rms, double factor,
                      const std::optional<at::Tensor>& pedestal, double nominal,
                      const std::optional<at::Tensor>& good);
at::Tensor unpack_ticks(const at::Tensor& words, std::int64_t ticks);

// spng/nodes/coincidence/coincidence.h
at::Tensor coincidence(const at::Tensor& packed, const at::Tensor& offsets, const at::Tensor& pairs,
                       std::int64_t max_cells);
at::Tensor or_neighbours(const at::Tensor& packed, const at::Tensor& neighbours);
at::Tensor multi_plane(const at::Tensor& mask, const at::Tensor& crossing, std::int64_t ticks,
                       at::IntArrayRef products);

// spng/nodes/roi/region_growth.h
at::Tensor grow_regions(const at::Tensor& seeds, const at::Tensor& level, std::int64_t ticks,
                        std::int64_t pad_before, std::int64_t pad_after);
at::Tensor confirmed_runs(const at::Tensor& runs, const at::Tensor& confirmed, const at::Tensor& lone,
                          std::int64_t ticks, double fraction);

// spng/nodes/roi/rebaseline.h
at::Tensor apply_regions_linear(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor);
at::Tensor apply_regions_restored(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor);

// spng/nodes/roi/long_pulses.h
at::Tensor clipped_running_sum(const at::Tensor& waveform, const at::Tensor& pedestal, const at::Tensor& rms,
                               double clip, std::int64_t samples);

} // namespace spng::kernels
