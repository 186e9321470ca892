#pragma once
// The operators of coincidence.h in ATen operations, for devices without an own kernel. No synchronisation
// and no shapes that depend on data. Arguments and results are those of the operators; they are checked by
// their callers.

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace spng {

at::Tensor coincidence_composite(const at::Tensor& packed, const at::Tensor& offsets, const at::Tensor& pairs,
                                 std::int64_t max_cells);
/// The same with `slots` cells of every target at a time, a power of two: what is gathered at once is
/// 2 x target x slots x word, and the number of operations grows with max_cells / slots.
at::Tensor coincidence_by_slots(const at::Tensor& packed, const at::Tensor& offsets, const at::Tensor& pairs,
                                std::int64_t max_cells, std::int64_t slots);
at::Tensor or_neighbours_composite(const at::Tensor& packed, const at::Tensor& neighbours);
at::Tensor multi_plane_composite(const at::Tensor& mask, const at::Tensor& crossing, std::int64_t ticks,
                                 at::IntArrayRef products);

} // namespace spng
