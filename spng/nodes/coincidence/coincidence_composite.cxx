// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/coincidence/coincidence_composite.h"

#include "spng/core/bit_words.h"
#include "spng/core/row_chunks.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/bitwise_and.h>
#include <ATen/ops/bitwise_not.h>
#include <ATen/ops/bitwise_or.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <bit>
#include <vector>

namespace spng {

namespace {

/// Append a row of zeros, to which absent cells and neighbours point.
at::Tensor with_zero_row(const at::Tensor& packed) {
    return at::constant_pad_nd(packed, {0, 0, 0, 1});
}

at::Tensor or_neighbours(const at::Tensor& packed, const at::Tensor& neighbours) {
    const auto rows = with_zero_row(packed);
    const auto row = at::where(neighbours.ge(0), neighbours, packed.size(0));
    auto widened = packed.clone();
    for (std::int64_t slot = 0; slot < neighbours.size(1); ++slot) {
        widened = at::bitwise_or(widened, rows.index_select(0, row.select(1, slot)));
    }
    return widened;
}

} // namespace

at::Tensor coincidence_composite(const at::Tensor& packed, const at::Tensor& offsets, const at::Tensor& pairs,
                                 std::int64_t max_cells) {
    // For each target and slot three gathered blocks of words, and six int64 to look up the rows of its cell.
    const std::int64_t bytes_of_slot = 8 * (offsets.size(0) - 1) * (3 * packed.size(1) + 6);
    const auto wanted = std::bit_ceil(static_cast<std::uint64_t>(max_cells));
    const auto allowed = std::bit_floor(static_cast<std::uint64_t>(rows_of_chunk(bytes_of_slot)));
    return coincidence_by_slots(packed, offsets, pairs, max_cells,
                                static_cast<std::int64_t>(std::min(wanted, allowed)));
}

at::Tensor coincidence_by_slots(const at::Tensor& packed, const at::Tensor& offsets, const at::Tensor& pairs,
                                std::int64_t max_cells, std::int64_t slots) {
    const std::int64_t targets = offsets.size(0) - 1;
    const std::int64_t words = packed.size(1);
    auto crossing = at::zeros({targets, words}, packed.options());
    if (max_cells == 0 || crossing.numel() == 0) {
        return crossing;
    }
    const auto rows = with_zero_row(packed);
    const auto begin = offsets.narrow(0, 0, targets).to(at::kLong).unsqueeze(1);
    const auto end = offsets.narrow(0, 1, targets).unsqueeze(1);
    for (std::int64_t first = 0; first < max_cells; first += slots) {
        const auto cell = begin.add(at::arange(first, first + slots, begin.options()));
        const auto present = cell.lt(end).unsqueeze(-1);
        const auto known = pairs.index_select(0, cell.clamp_max(pairs.size(0) - 1).flatten()).to(at::kInt);
        const auto row = at::where(present, known.view({targets, slots, 2}), packed.size(0));
        const auto gather = [&](std::int64_t side) {
            return rows.index_select(0, row.select(-1, side).flatten()).view({targets, slots, words});
        };
        auto folded = at::bitwise_and(gather(0), gather(1));
        // The number of slots is a power of two, so fold by halves.
        for (std::int64_t half = slots / 2; half > 0; half /= 2) {
            folded = at::bitwise_or(folded.narrow(1, 0, half), folded.narrow(1, half, half));
        }
        crossing = at::bitwise_or(crossing, folded.squeeze(1));
    }
    return crossing;
}

at::Tensor multi_plane_composite(const at::Tensor& mask, const at::Tensor& crossing,
                                 const std::optional<at::Tensor>& neighbours, std::int64_t ticks,
                                 at::IntArrayRef products) {
    if (products.empty()) {
        return at::zeros({0, mask.size(0), mask.size(1)}, mask.options());
    }
    const at::Tensor others = neighbours ? or_neighbours(crossing, *neighbours) : crossing;
    std::vector<at::Tensor> results;
    for (const std::int64_t product : products) {
        const auto left = product & 1 ? mask : at::bitwise_not(mask);
        const auto right = product & 2 ? others : at::bitwise_not(others);
        results.push_back(at::bitwise_and(left, right));
    }
    auto stacked = at::stack(results);
    if (ticks % bits_per_word != 0) {
        // Clear the bits past the last tick, which the complements have set.
        stacked.select(-1, -1).bitwise_and_(static_cast<std::int64_t>(last_word_bits(ticks)));
    }
    return stacked;
}

} // namespace spng
