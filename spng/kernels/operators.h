#pragma once
// The host's side of the operators' CUDA kernels, under the operators' names: what the dispatcher calls for
// tensors on a CUDA device once libWireCellSpngCuda.so is loaded. Arguments, results and errors are those of
// the functions that the operators are documented at; these have checked them. Nothing here waits for the
// device, copies from the host or allocates but by LibTorch, so all of it may be captured into a CUDA graph.

#include <ATen/core/Tensor.h>

#include <optional>
#include <tuple>

namespace spng::kernels {

/// spng/decon/baseline.h
at::Tensor subtract_baseline_and_pad(const at::Tensor& waveforms, std::int64_t padded_ticks,
                                     at::ScalarType type, const std::optional<at::Tensor>& good);

} // namespace spng::kernels
