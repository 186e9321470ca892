// SPDX-License-Identifier: Apache-2.0
#include "spng/core/rows/compacted_rows.h"

#include "spng/core/bit_words.h"
#include "spng/core/operator.h"
#include "spng/core/tensor_checks.h"

#include <ATen/Dispatch.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <cstdint>

namespace spng {
namespace {

/// Call visit(tick of the row, position in the compacted row, ticks) for the runs of ticks inside the ROIs of a row.
template <class Visit>
void for_each_run(const std::uint64_t* mask, std::int64_t factor, std::int64_t ticks, Visit visit) {
    const std::int64_t slices = slices_of(ticks, factor);
    std::int64_t position = 0;
    for (std::int64_t first = find_bit(mask, 0, slices, true); first < slices;) {
        const std::int64_t past = find_bit(mask, first, slices, false);
        const std::int64_t count = std::min(past * factor, ticks) - first * factor;
        visit(first * factor, position, count);
        position += count;
        first = find_bit(mask, past, slices, true);
    }
}

/// Copy the samples inside ROIs of all rows: copy(row of the input, tick, position, ticks, row of the result).
template <class Copy>
at::Tensor copied_runs(const at::Tensor& rows, const at::Tensor& mask, std::int64_t factor, Copy copy) {
    at::Tensor result = at::zeros(rows.sizes(), rows.options());
    const std::int64_t ticks = rows.size(-1), words = mask.size(-1);
    const at::Tensor in = rows.contiguous(), inside = mask.contiguous();
    const auto* flags = reinterpret_cast<const std::uint64_t*>(inside.const_data_ptr<std::int64_t>());
    AT_DISPATCH_FLOATING_TYPES(rows.scalar_type(), "compacted_rows", [&] {
        const auto* from = in.const_data_ptr<scalar_t>();
        auto* to = result.mutable_data_ptr<scalar_t>();
        for (std::int64_t row = 0; row < (ticks == 0 ? 0 : rows.numel() / ticks); ++row) {
            for_each_run(flags + row * words, factor, ticks,
                         [&](std::int64_t tick, std::int64_t position, std::int64_t count) {
                             copy(from + row * ticks, tick, position, count, to + row * ticks);
                         });
        }
    });
    return result;
}

at::Tensor expand_rows_cpu(const at::Tensor& rows, const at::Tensor& mask, std::int64_t factor) {
    return copied_runs(rows, mask, factor,
                       [](const auto* from, std::int64_t tick, std::int64_t position, std::int64_t count,
                          auto* to) { std::copy_n(from + position, count, to + tick); });
}

at::Tensor copy_compacted_cpu(const at::Tensor& rows, const at::Tensor& mask, std::int64_t factor) {
    return copied_runs(rows, mask, factor,
                       [](const auto* from, std::int64_t /*tick*/, std::int64_t position, std::int64_t count,
                          auto* to) { std::copy_n(from + position, count, to + position); });
}

const Operator expand_rows_op{"expand_rows(Tensor rows, Tensor mask, int factor) -> Tensor", expand_rows_cpu,
                              kernels::expand_rows};
const Operator copy_compacted_op{"copy_compacted(Tensor rows, Tensor mask, int factor) -> Tensor",
                                 copy_compacted_cpu, kernels::copy_compacted};

} // namespace

at::Tensor compacted_rows(const at::Tensor& rows, const at::Tensor& mask, std::int64_t factor) {
    return copied_runs(rows, mask, factor,
                       [](const auto* from, std::int64_t tick, std::int64_t position, std::int64_t count,
                          auto* to) { std::copy_n(from + tick, count, to + position); });
}

at::Tensor expand_rows(const at::Tensor& rows, const at::Tensor& mask, std::int64_t factor) {
    require_rows_and_mask("expand_rows", rows, mask, factor);
    return expand_rows_op(rows, mask, factor);
}

at::Tensor copy_compacted(const at::Tensor& rows, const at::Tensor& mask, std::int64_t factor) {
    require_rows_and_mask("copy_compacted", rows, mask, factor);
    return copy_compacted_op(rows, mask, factor);
}

std::int64_t slices_of(std::int64_t ticks, std::int64_t factor) {
    return (ticks + factor - 1) / factor;
}

void require_rows_and_mask(const char* operation, const at::Tensor& rows, const at::Tensor& mask,
                           std::int64_t factor) {
    require_tensor(is_real(rows) && rows.dim() >= 1, operation, "rows", rows,
                   "float32 or float64 (..., channel, tick)");
    require_argument(factor > 0, operation, "factor", factor, "1 or more ticks per slice");
    const std::int64_t words = words_for(slices_of(rows.size(-1), factor));
    require_tensor(mask.defined() && mask.scalar_type() == at::kLong && same_rows(mask, rows) &&
                       mask.size(-1) == words,
                   operation, "mask", mask,
                   "int64, " + std::to_string(words) + " words for each row of " + describe_tensor(rows));
}

} // namespace spng
