// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/frame/frame_rows.h"

#include "spng/core/bit_words.h"
#include "spng/core/operator.h"
#include "spng/core/tensor_checks.h"
#include "spng/nodes/frame/row_tiles.h"

#include <ATen/Dispatch.h>

#include <algorithm>

namespace spng {
namespace {

constexpr std::int64_t max_ticks = std::int64_t{1} << 27; // so that those of a tile are an int32

void gather_words_cpu(at::TensorList sources, const at::Tensor& origins, std::int64_t factor,
                      std::int64_t ticks, const at::Tensor& words, const at::Tensor& extents,
                      const at::Tensor& tiles) {
    const std::int64_t slices = (ticks + factor - 1) / factor;
    const auto* origin = origins.const_data_ptr<std::int32_t>();
    auto* extent = extents.mutable_data_ptr<std::int32_t>();
    auto* tile = tiles.mutable_data_ptr<std::int64_t>();
    auto* to = words.mutable_data_ptr<std::int64_t>();
    const std::int64_t count = sources[0].size(-1);
    for (std::int64_t row = 0; row < origins.size(0); ++row, to += count) {
        std::int64_t& total = tile[row / rows_of_tile];
        if (row % rows_of_tile == 0) {
            total = 0;
        }
        std::int64_t inside = 0;
        if (origin[2 * row] < 0) {
            std::fill_n(to, count, 0);
        } else {
            const at::Tensor& source = sources[static_cast<std::size_t>(origin[2 * row])];
            std::copy_n(source.const_data_ptr<std::int64_t>() + origin[2 * row + 1] * count, count, to);
            const auto* flags = reinterpret_cast<const std::uint64_t*>(to);
            const std::int64_t used = std::min(slices, count * bits_per_word);
            inside = count_bits(flags, 0, used) * factor;
            if (used == slices && count_bits(flags, slices - 1, slices) == 1) {
                inside -= slices * factor - ticks;
            }
        }
        extent[2 * row] = static_cast<std::int32_t>(total);
        extent[2 * row + 1] = static_cast<std::int32_t>(inside);
        total += inside;
    }
}

void gather_rows_cpu(at::TensorList sources, const at::Tensor& origins, const at::Tensor& extents,
                     const at::Tensor& tiles, std::int64_t first_tile, const at::Tensor& values) {
    const auto* origin = origins.const_data_ptr<std::int32_t>();
    const auto* extent = extents.const_data_ptr<std::int32_t>();
    const auto* tile = tiles.const_data_ptr<std::int64_t>();
    std::int64_t before = 0;
    for (std::int64_t i = 0; i < first_tile; ++i) {
        before += *tile++;
    }
    AT_DISPATCH_FLOATING_TYPES(sources[0].scalar_type(), "gather_rows", [&] {
        float* const to = values.mutable_data_ptr<float>();
        for (std::int64_t row = 0; row < origins.size(0); ++row) {
            if (row > 0 && row % rows_of_tile == 0) {
                before += *tile++;
            }
            if (extent[2 * row + 1] > 0) {
                const at::Tensor& source = sources[static_cast<std::size_t>(origin[2 * row])];
                const auto* from = source.const_data_ptr<scalar_t>() + origin[2 * row + 1] * source.size(-1);
                std::transform(from, from + extent[2 * row + 1], to + before + extent[2 * row],
                               [](scalar_t sample) { return static_cast<float>(sample); });
            }
        }
    });
}

const Operator gather_words_op{
    "gather_words(Tensor[] sources, Tensor origins, int factor, int ticks, Tensor(a!) words, "
    "Tensor(b!) extents, Tensor(c!) tiles) -> ()",
    gather_words_cpu, kernels::gather_words};
const Operator gather_rows_op{
    "gather_rows(Tensor[] sources, Tensor origins, Tensor extents, Tensor tiles, int first_tile, "
    "Tensor(a!) values) -> ()",
    gather_rows_cpu, kernels::gather_rows};

void require_sources(const char* operation, const std::vector<at::Tensor>& sources, bool fits,
                     const char* expected) {
    require_argument(!sources.empty() && sources.size() <= max_row_sources, operation, "sources",
                     static_cast<std::int64_t>(sources.size()), "1 to " + std::to_string(max_row_sources));
    for (const at::Tensor& source : sources) {
        require_tensor(fits && source.dim() >= 2 && source.is_contiguous() &&
                           source.scalar_type() == sources[0].scalar_type() &&
                           source.size(-1) == sources[0].size(-1),
                       operation, "source", source, expected);
    }
}

} // namespace

std::int64_t tiles_for(std::int64_t rows) {
    return (rows + rows_of_tile - 1) / rows_of_tile;
}

void gather_words(const std::vector<at::Tensor>& sources, const at::Tensor& origins, std::int64_t factor,
                  std::int64_t ticks, const at::Tensor& words, const at::Tensor& extents,
                  const at::Tensor& tiles) {
    require_sources("gather_words", sources, !sources.empty() && sources[0].scalar_type() == at::kLong,
                    "contiguous int64 (..., row, word), as many words in all sources");
    require_argument(factor >= 1 && factor <= max_ticks, "gather_words", "factor", factor, "1 to 2^27");
    require_argument(ticks >= 1 && ticks <= max_ticks, "gather_words", "ticks", ticks, "1 to 2^27");
    if (words.numel() > 0) {
        gather_words_op(sources, origins, factor, ticks, words, extents, tiles);
    }
}

void gather_rows(const std::vector<at::Tensor>& sources, const at::Tensor& origins, const at::Tensor& extents,
                 const at::Tensor& tiles, std::int64_t first_tile, const at::Tensor& values) {
    require_sources("gather_rows", sources, !sources.empty() && is_real(sources[0]),
                    "contiguous float32 or float64 (..., row, tick), as many ticks in all sources");
    if (values.numel() > 0) {
        gather_rows_op(sources, origins, extents, tiles, first_tile, values);
    }
}

} // namespace spng
