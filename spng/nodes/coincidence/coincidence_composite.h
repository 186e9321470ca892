// SPDX-License-Identifier: Apache-2.0
#pragma once
// Operators of coincidence.h composed of ATen operations, for devices without kernels of their own. They do
// not synchronise and have no shapes that depend on data. Arguments and results are those of the operators;
// the callers check them.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace spng {

at::Tensor coincidence_composite(const at::Tensor& packed, const at::Tensor& offsets, const at::Tensor& pairs,
                                 std::int64_t max_cells);
/// Do the same with `slots` cells of every target at a time. The largest gathered tensors have 2 x target x
/// slots x word elements, and max_cells / slots sets the number of operations.
/// @param slots  power of two
at::Tensor coincidence_by_slots(const at::Tensor& packed, const at::Tensor& offsets, const at::Tensor& pairs,
                                std::int64_t max_cells, std::int64_t slots);
at::Tensor multi_plane_composite(const at::Tensor& mask, const at::Tensor& crossing,
                                 const std::optional<at::Tensor>& neighbours, std::int64_t ticks,
                                 at::IntArrayRef products);

} // namespace spng
