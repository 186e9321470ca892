// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/coincidence/coincidence.h"

#include "spng/core/bit_words.h"
#include "spng/core/operator.h"
#include "spng/core/rows/multiversion.h"
#include "spng/core/tensor_checks.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace spng {

namespace {

bool is_packed(const at::Tensor& tensor) {
    return tensor.defined() && tensor.scalar_type() == at::kLong && tensor.dim() == 2;
}

/// Four words as one vector of the compiler's vector extension. With this width, both AVX2 and AVX-512 keep
/// 24 words in registers. Eight words are a little faster with AVX-512 and three times slower with AVX2.
using FourWords = std::uint64_t __attribute__((vector_size(32), aligned(8), may_alias));

/// Compute `Count` consecutive Words of one target, kept in registers over all its cells.
/// @param first  first of these words in row 0
template <class Words, int Count>
[[gnu::always_inline]] inline void fold_cells(const std::uint64_t* first, std::int64_t words,
                                              const std::int32_t* pairs, std::int64_t cells,
                                              std::uint64_t* result) {
    Words folded[Count] = {};
    for (std::int64_t cell = 0; cell < cells; ++cell) {
        const auto* left = reinterpret_cast<const Words*>(first + pairs[2 * cell] * words);
        const auto* right = reinterpret_cast<const Words*>(first + pairs[2 * cell + 1] * words);
        for (int part = 0; part < Count; ++part) {
            folded[part] |= left[part] & right[part];
        }
    }
    std::memcpy(result, folded, sizeof folded);
}

/// Compute one target with as many words at a time as fit in registers: the 24 words of 1500 ticks need one
/// pass over the cells.
SPNG_MULTIVERSION
void fold_target(const std::uint64_t* packed, std::int64_t words, const std::int32_t* pairs,
                 std::int64_t cells, std::uint64_t* result) {
    std::int64_t first = 0;
    for (; first + 24 <= words; first += 24) {
        fold_cells<FourWords, 6>(packed + first, words, pairs, cells, result + first);
    }
    for (; first + 4 <= words; first += 4) {
        fold_cells<FourWords, 1>(packed + first, words, pairs, cells, result + first);
    }
    for (; first < words; ++first) {
        fold_cells<std::uint64_t, 1>(packed + first, words, pairs, cells, result + first);
    }
}

at::Tensor coincidence_cpu(const at::Tensor& packed, const at::Tensor& offsets, const at::Tensor& pairs,
                           std::int64_t /*max_cells*/) {
    const auto input = packed.contiguous();
    const std::int64_t words = packed.size(1);
    const std::int64_t targets = offsets.size(0) - 1;
    auto crossing = at::empty({targets, words}, packed.options());
    const auto* from = reinterpret_cast<const std::uint64_t*>(input.const_data_ptr<std::int64_t>());
    auto* to = reinterpret_cast<std::uint64_t*>(crossing.mutable_data_ptr<std::int64_t>());
    const auto* starts = offsets.const_data_ptr<std::int32_t>();
    const auto rows_of_cells = pairs.to(at::kInt);
    const auto* cells = rows_of_cells.const_data_ptr<std::int32_t>();
    at::parallel_for(0, targets, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t target = begin; target < end; ++target) {
            fold_target(from, words, cells + 2 * std::int64_t{starts[target]},
                        starts[target + 1] - starts[target], to + target * words);
        }
    });
    return crossing;
}

/// Return the OR of each row with the rows of its neighbours.
at::Tensor or_neighbours(const at::Tensor& packed, const at::Tensor& neighbours) {
    const auto input = packed.contiguous();
    const auto table = neighbours.contiguous();
    const std::int64_t rows = packed.size(0);
    const std::int64_t words = packed.size(1);
    const std::int64_t slots = table.size(1);
    auto widened = at::empty({rows, words}, packed.options());
    const auto* from = input.const_data_ptr<std::int64_t>();
    const auto* next = table.const_data_ptr<std::int32_t>();
    auto* to = widened.mutable_data_ptr<std::int64_t>();
    for (std::int64_t row = 0; row < rows; ++row) {
        std::int64_t* mine = to + row * words;
        std::copy_n(from + row * words, words, mine);
        for (std::int64_t slot = 0; slot < slots; ++slot) {
            const std::int64_t other = next[row * slots + slot];
            for (std::int64_t word = 0; other >= 0 && word < words; ++word) {
                mine[word] |= from[other * words + word];
            }
        }
    }
    return widened;
}

at::Tensor multi_plane_cpu(const at::Tensor& mask, const at::Tensor& crossing,
                           const std::optional<at::Tensor>& neighbours, std::int64_t ticks,
                           at::IntArrayRef products) {
    const auto own = mask.contiguous();
    const auto others = neighbours ? or_neighbours(crossing, *neighbours) : crossing.contiguous();
    const std::int64_t rows = mask.size(0);
    const std::int64_t words = mask.size(1);
    auto result = at::empty({static_cast<std::int64_t>(products.size()), rows, words}, mask.options());
    auto* to = reinterpret_cast<std::uint64_t*>(result.mutable_data_ptr<std::int64_t>());
    for (const std::int64_t product : products) {
        const auto* left = reinterpret_cast<const std::uint64_t*>(own.const_data_ptr<std::int64_t>());
        const auto* right = reinterpret_cast<const std::uint64_t*>(others.const_data_ptr<std::int64_t>());
        // Bit 0 of n selects the mask or its complement, bit 1 the crossing or its complement.
        const std::uint64_t flip_mask = product & 1 ? 0 : ~std::uint64_t{0};
        const std::uint64_t flip_crossing = product & 2 ? 0 : ~std::uint64_t{0};
        for (std::int64_t row = 0; row < rows && words > 0; ++row) {
            for (std::int64_t word = 0; word < words; ++word) {
                *to++ = (*left++ ^ flip_mask) & (*right++ ^ flip_crossing);
            }
            to[-1] &= last_word_bits(ticks);
        }
    }
    return result;
}

const Operator coincidence_op{
    "coincidence(Tensor packed, Tensor offsets, Tensor pairs, int max_cells) -> Tensor", coincidence_cpu,
    kernels::coincidence};
const Operator multi_plane_op{
    "multi_plane(Tensor mask, Tensor crossing, Tensor? neighbours, int ticks, int[] products) -> Tensor",
    multi_plane_cpu, kernels::multi_plane};

} // namespace

CoincidenceTable CoincidenceTable::to(at::Device device) const {
    // Millions of cells: half the bytes are half the time to read them.
    const bool fit = rows <= std::numeric_limits<std::int16_t>::max();
    return {offsets.to(device), pairs.to(device, !device.is_cpu() && fit ? at::kShort : at::kInt), rows,
            max_cells};
}

CoincidenceTable make_coincidence_table(const at::Tensor& offsets, const at::Tensor& pairs,
                                        std::int64_t rows) {
    const char* name = "make_coincidence_table";
    require_tensor(offsets.defined() && offsets.is_cpu() && offsets.scalar_type() == at::kInt &&
                       offsets.dim() == 1 && offsets.size(0) >= 1,
                   name, "offsets", offsets, "int32 (target + 1) cpu");
    require_tensor(pairs.defined() && pairs.is_cpu() && pairs.scalar_type() == at::kInt && pairs.dim() == 2 &&
                       pairs.size(1) == 2,
                   name, "pairs", pairs, "int32 (cell, 2) cpu");
    CoincidenceTable table{offsets.contiguous(), pairs.contiguous(), rows, 0};
    const auto* starts = table.offsets.const_data_ptr<std::int32_t>();
    require_argument(starts[0] == 0, name, "first offset", starts[0], "0");
    for (std::int64_t target = 0; target < table.targets(); ++target) {
        const std::int64_t cells = std::int64_t{starts[target + 1]} - starts[target];
        require_argument(cells >= 0, name, "number of cells of a target", cells, "increasing offsets");
        table.max_cells = std::max(table.max_cells, cells);
    }
    require_argument(starts[table.targets()] == pairs.size(0), name, "last offset", starts[table.targets()],
                     std::to_string(pairs.size(0)) + ", the number of cells");
    const auto* cell_rows = table.pairs.const_data_ptr<std::int32_t>();
    if (table.pairs.numel() > 0) {
        const auto [lowest, highest] = std::minmax_element(cell_rows, cell_rows + table.pairs.numel());
        for (const std::int32_t row : {*lowest, *highest}) {
            require_argument(row >= 0 && row < rows, name, "row of a cell", row,
                             "0 to " + std::to_string(rows - 1));
        }
    }
    return table;
}

at::Tensor coincidence(const at::Tensor& packed, const CoincidenceTable& table) {
    require_tensor(is_packed(packed) && packed.size(0) == table.rows, "coincidence", "packed mask", packed,
                   "int64 (" + std::to_string(table.rows) + ", word)");
    return coincidence_op(packed, table.offsets, table.pairs, table.max_cells);
}

at::Tensor multi_plane(const at::Tensor& mask, const at::Tensor& crossing, std::int64_t ticks,
                       const std::vector<std::int64_t>& products,
                       const std::optional<at::Tensor>& neighbours) {
    require_argument(ticks >= 0, "multi_plane", "number of ticks", ticks, "0 or more");
    require_tensor(is_packed(mask) && mask.size(1) == words_for(ticks), "multi_plane", "packed mask", mask,
                   "int64 (target, " + std::to_string(words_for(ticks)) + ")");
    require_tensor(is_packed(crossing) && crossing.sizes() == mask.sizes(), "multi_plane", "crossing",
                   crossing, "the shape of the mask, " + describe_tensor(mask));
    require_tensor(!neighbours || (neighbours->defined() && neighbours->scalar_type() == at::kInt &&
                                   neighbours->dim() == 2 && neighbours->size(0) == mask.size(0)),
                   "multi_plane", "table of neighbours", neighbours ? *neighbours : at::Tensor(),
                   "int32 (" + std::to_string(mask.size(0)) + ", k)");
    for (const std::int64_t product : products) {
        require_argument(product >= 0 && product <= 3, "multi_plane", "product", product, "0, 1, 2 or 3");
    }
    return multi_plane_op(mask, crossing, neighbours, ticks, products);
}

} // namespace spng
