// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/roi/compact_regions.h"

#include "spng/core/operator.h"
#include "spng/core/rows/compacted_rows.h"
#include "spng/nodes/roi/rebaseline.h"

namespace spng {
namespace {

at::Tensor compact_regions_linear_cpu(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor) {
    return compacted_rows(apply_regions_linear(signal, mask, factor), mask, factor);
}

at::Tensor compact_regions_restored_cpu(const at::Tensor& signal, const at::Tensor& mask,
                                        std::int64_t factor) {
    return compacted_rows(apply_regions_restored(signal, mask, factor), mask, factor);
}

const Operator compact_regions_linear_op{
    "compact_regions_linear(Tensor signal, Tensor mask, int factor) -> Tensor", compact_regions_linear_cpu,
    kernels::compact_regions_linear};
const Operator compact_regions_restored_op{
    "compact_regions_restored(Tensor signal, Tensor mask, int factor) -> Tensor",
    compact_regions_restored_cpu, kernels::compact_regions_restored};

} // namespace

bool compacts_rows(c10::Device device) {
    return device.is_cuda();
}

at::Tensor compact_regions_linear(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor) {
    require_rows_and_mask("compact_regions_linear", signal, mask, factor);
    return compact_regions_linear_op(signal, mask, factor);
}

at::Tensor compact_regions_restored(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor) {
    require_rows_and_mask("compact_regions_restored", signal, mask, factor);
    return compact_regions_restored_op(signal, mask, factor);
}

} // namespace spng
