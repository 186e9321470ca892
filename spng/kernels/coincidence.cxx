// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/coincidence/coincidence.h"
#include "spng/core/bit_words.h"
#include "spng/core/tensor_checks.h"
#include "spng/kernels/launch.h"

#include <ATen/ops/empty.h>

namespace spng::kernels {

namespace {

/// Return a contiguous tensor, aligned to this many bytes. LibTorch's allocations are aligned, parts of them
/// may not be.
at::Tensor aligned(const at::Tensor& tensor, std::uintptr_t bytes) {
    at::Tensor whole = tensor.contiguous();
    const auto address = reinterpret_cast<std::uintptr_t>(whole.const_data_ptr());
    return address % bytes == 0 ? whole : whole.clone();
}

} // namespace

at::Tensor coincidence(const at::Tensor& packed, const at::Tensor& offsets, const at::Tensor& pairs,
                       std::int64_t /*max_cells*/) {
    const std::int64_t targets = offsets.size(0) - 1;
    at::Tensor crossing = at::empty({targets, packed.size(1)}, packed.options());
    if (crossing.numel() > 0) {
        require_argument(packed.numel() <= 0xffffffff, "coincidence", "words of all rows", packed.numel(),
                         "below 2^32, since the kernel counts in 32 bits");
        const at::Tensor input = aligned(packed, 16);
        const bool narrow = pairs.scalar_type() == at::kShort;
        const at::Tensor cells = aligned(pairs, narrow ? 4 : 8);
        constexpr std::int64_t shared_bytes = threads_of_block * sizeof(std::uint64_t);
        launch("coincidence", packed.device(), blocks_for(targets, 1), shared_bytes,
               input.const_data_ptr<std::int64_t>(), packed.size(1), offsets.const_data_ptr<std::int32_t>(),
               cells.const_data_ptr(), static_cast<int>(narrow), targets,
               crossing.mutable_data_ptr<std::int64_t>());
    }
    return crossing;
}

at::Tensor multi_plane(const at::Tensor& mask, const at::Tensor& crossing,
                       const std::optional<at::Tensor>& neighbours, std::int64_t ticks,
                       at::IntArrayRef products) {
    const auto count = static_cast<std::int64_t>(products.size());
    at::Tensor result = at::empty({count, mask.size(0), mask.size(1)}, mask.options());
    if (result.numel() == 0) {
        return result;
    }
    constexpr std::int64_t max_products = 15; // two bits of an int per product
    require_argument(count <= max_products, "multi_plane", "count of products", count, "15 or fewer");
    int coded = 0;
    for (std::int64_t k = 0; k < count; ++k) {
        coded |= static_cast<int>(products[k]) << (2 * k);
    }
    const at::Tensor own = mask.contiguous();
    const at::Tensor others = crossing.contiguous();
    const at::Tensor table = neighbours ? neighbours->contiguous() : at::Tensor();
    launch("multi_plane", mask.device(), blocks_for(mask.size(0), warps_of_block), 0,
           own.const_data_ptr<std::int64_t>(), others.const_data_ptr<std::int64_t>(),
           table.defined() ? table.const_data_ptr<std::int32_t>() : nullptr,
           table.defined() ? table.size(1) : std::int64_t{0}, mask.size(0), ticks, coded,
           static_cast<int>(count), result.mutable_data_ptr<std::int64_t>());
    return result;
}

} // namespace spng::kernels
