// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/decon/interpolated_rows.h"

#include "spng/kernels/launch.h"

namespace spng::kernels {
namespace {

template <class Real>
void interpolate(const char* kernel, const at::Tensor& spectrum, const at::Tensor& good, bool cyclic) {
    const std::int64_t rows = spectrum.size(0) * spectrum.size(1);
    launch(kernel, spectrum.device(), blocks_for(rows, 1), 0, spectrum.mutable_data_ptr<c10::complex<Real>>(),
           rows, spectrum.size(1), spectrum.size(2), spectrum.stride(1), good.const_data_ptr<bool>(),
           static_cast<int>(cyclic));
}

} // namespace

void interpolate_rows(const at::Tensor& spectrum, const at::Tensor& good, bool cyclic) {
    if (spectrum.numel() == 0) {
        return;
    }
    if (spectrum.stride(2) != 1 || spectrum.stride(0) != spectrum.size(1) * spectrum.stride(1)) {
        const at::Tensor dense = spectrum.clone(at::MemoryFormat::Contiguous);
        interpolate_rows(dense, good, cyclic);
        spectrum.copy_(dense);
        return;
    }
    const at::Tensor flags = good.contiguous();
    spectrum.scalar_type() == at::kComplexFloat
        ? interpolate<float>("interpolate_rows_float32", spectrum, flags, cyclic)
        : interpolate<double>("interpolate_rows_float64", spectrum, flags, cyclic);
}

} // namespace spng::kernels
