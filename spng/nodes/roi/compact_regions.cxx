// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/roi/compact_regions.h"

#include "spng/core/find_operator.h"
#include "spng/core/rows/compacted_rows.h"
#include "spng/nodes/roi/rebaseline.h"

#include <torch/library.h>

namespace spng {
namespace {

at::Tensor compact_regions_linear_cpu(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor) {
    return compacted_rows(apply_regions_linear(signal, mask, factor), mask, factor);
}

at::Tensor compact_regions_restored_cpu(const at::Tensor& signal, const at::Tensor& mask,
                                        std::int64_t factor) {
    return compacted_rows(apply_regions_restored(signal, mask, factor), mask, factor);
}

} // namespace

bool compacts_rows(c10::Device device) {
    if (!device.is_cuda()) {
        return false;
    }
    // The kernels are registered before the first tensor is on a device.
    static const bool has_kernel =
        find_operator<decltype(compact_regions_linear_cpu)>("spng::compact_regions_linear")
            .hasKernelForDispatchKey(c10::DispatchKey::CUDA);
    return has_kernel;
}

at::Tensor compact_regions_linear(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor) {
    require_rows_and_mask("compact_regions_linear", signal, mask, factor);
    static const auto operation =
        find_operator<decltype(compact_regions_linear_cpu)>("spng::compact_regions_linear");
    return operation.call(signal, mask, factor);
}

at::Tensor compact_regions_restored(const at::Tensor& signal, const at::Tensor& mask, std::int64_t factor) {
    require_rows_and_mask("compact_regions_restored", signal, mask, factor);
    static const auto operation =
        find_operator<decltype(compact_regions_restored_cpu)>("spng::compact_regions_restored");
    return operation.call(signal, mask, factor);
}

TORCH_LIBRARY_FRAGMENT(spng, library) {
    library.def("compact_regions_linear(Tensor signal, Tensor mask, int factor) -> Tensor");
    library.def("compact_regions_restored(Tensor signal, Tensor mask, int factor) -> Tensor");
}

TORCH_LIBRARY_IMPL(spng, CPU, library) {
    library.impl("compact_regions_linear", compact_regions_linear_cpu);
    library.impl("compact_regions_restored", compact_regions_restored_cpu);
}

} // namespace spng
