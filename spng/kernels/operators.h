// SPDX-License-Identifier: Apache-2.0
#pragma once
// Host side of our operators on CUDA, under the operators' names. With libWireCellSpngCuda.so loaded, the
// dispatcher calls these functions for tensors on a CUDA device. The named headers document arguments,
// results and errors, and their functions have checked the arguments. Nothing here waits for the device or
// copies from the host, and only LibTorch allocates, so all of it can be captured in a CUDA graph.

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>

#include <optional>
#include <tuple>

namespace spng::kernels {

// spng/nodes/channels/row_selection.h: waveforms, good rows, flags. A rail or both may be missing.
std::tuple<at::Tensor, at::Tensor, at::Tensor> select_rows(const at::Tensor& frame, const at::Tensor& rows,
                                                           const at::Tensor& offsets,
                                                           const at::Tensor& ranges,
                                                           std::optional<std::int64_t> low,
                                                           std::optional<std::int64_t> high, double largest);

// spng/nodes/decon/waveform_spectrum.h, interpolated_rows.h and deconvolution.h, spng/nodes/filter/time_filter.h.
// Transforms that do not fit into shared memory are those of ATen, on the device.
at::Tensor waveform_spectrum(const at::Tensor& waveforms, std::int64_t padded_ticks, at::ScalarType type,
                             const std::optional<at::Tensor>& good);
void interpolate_rows(const at::Tensor& spectrum, const at::Tensor& good, bool cyclic);
at::Tensor deconvolve(const at::Tensor& spectrum, const at::Tensor& kernel, std::int64_t padded_channels);
at::Tensor apply_time_filter(const at::Tensor& spectrum, const at::Tensor& filter, std::int64_t length,
                             std::int64_t samples);

// spng/nodes/roi/robust_rms.h. Sums of float32 waveforms are in float32 with a carried rounding error.
std::tuple<at::Tensor, at::Tensor, at::Tensor> robust_noise(const at::Tensor& waveforms, double cut);
std::tuple<at::Tensor, at::Tensor> capped_noise(const at::Tensor& low, const at::Tensor& median,
                                                const at::Tensor& rms, const std::optional<at::Tensor>& good,
                                                const std::optional<at::Tensor>& expected, double cap);
at::Tensor plain_rms(const at::Tensor& waveforms);

// spng/core/rows/bit_ticks.h
at::Tensor pack_ticks(const at::Tensor& mask);
at::Tensor pack_levels(at::TensorList waveforms, const c10::List<std::optional<at::Tensor>>& rms,
                       const c10::List<std::optional<at::Tensor>>& pedestals,
                       const std::optional<at::Tensor>& good, at::IntArrayRef waveform_of_level,
                       at::ArrayRef<double> factors, at::ArrayRef<double> nominals);
at::Tensor unpack_ticks(const at::Tensor& words, std::int64_t ticks);

// spng/nodes/coincidence/coincidence.h
at::Tensor coincidence(const at::Tensor& packed, const at::Tensor& offsets, const at::Tensor& pairs,
                       std::int64_t max_cells);
at::Tensor multi_plane(const at::Tensor& mask, const at::Tensor& crossing,
                       const std::optional<at::Tensor>& neighbours, std::int64_t ticks,
                       at::IntArrayRef products);

// spng/nodes/roi/region_growth.h
at::Tensor find_regions(const at::Tensor& levels, at::TensorList confirmed, std::int64_t ticks,
                        at::IntArrayRef seeds, at::IntArrayRef lone, at::IntArrayRef grow,
                        at::ArrayRef<double> fractions, std::int64_t always, std::int64_t beside, bool cyclic,
                        std::int64_t pad);

// spng/nodes/roi/compact_regions.h
at::Tensor compact_regions_linear(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor);
at::Tensor compact_regions_restored(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor);

// spng/core/rows/compacted_rows.h
at::Tensor expand_rows(const at::Tensor& rows, const at::Tensor& mask, std::int64_t factor);
at::Tensor copy_compacted(const at::Tensor& rows, const at::Tensor& mask, std::int64_t factor);

// spng/nodes/frame/frame_rows.h
void gather_words(at::TensorList sources, const at::Tensor& origins, std::int64_t factor, std::int64_t ticks,
                  const at::Tensor& words, const at::Tensor& extents, const at::Tensor& tiles);
void gather_rows(at::TensorList sources, const at::Tensor& origins, const at::Tensor& extents,
                 const at::Tensor& tiles, std::int64_t first_tile, const at::Tensor& values);

// spng/nodes/roi/long_pulses.h
at::Tensor sum_of_neighbours(const at::Tensor& waveform, bool cyclic);
at::Tensor clipped_running_sum(const at::Tensor& waveform, const at::Tensor& pedestal, const at::Tensor& rms,
                               double clip, at::IntArrayRef samples);

// spng/nodes/dnn/roi_features.h
at::Tensor stack_features(at::TensorList features, std::int64_t ticks, double scale, double offset,
                          const std::optional<at::Tensor>& divisor);

} // namespace spng::kernels
