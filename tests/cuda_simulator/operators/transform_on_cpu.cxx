// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda_simulator/simulator.h"

#include "tests/cuda_simulator/operators/number_queue.h"
#include "tests/cuda_simulator/operators/transform_on_cpu.h"

#include <ATen/ops/_fft_c2c.h>
#include <ATen/ops/_fft_c2r.h>
#include <ATen/ops/_fft_r2c.h>
#include <ATen/ops/from_blob.h>

#include <exception>
#include <numeric>
#include <string>
#include <vector>

namespace cuda_simulator {
namespace {

at::Tensor side_of(const TransformLayout& layout, std::int64_t batch, void* values, at::ScalarType type) {
    std::vector<std::int64_t> sizes = layout.sizes, strides = layout.strides;
    sizes.insert(sizes.begin(), batch);
    strides.insert(strides.begin(), layout.distance);
    return at::from_blob(values, sizes, strides, at::TensorOptions(type));
}

} // namespace

void transform_on_cpu(const Transform& transform, void* input, void* output) {
    const auto real = transform.is_double ? at::kDouble : at::kFloat;
    const auto complex = transform.is_double ? at::kComplexDouble : at::kComplexFloat;
    std::vector<std::int64_t> dims(transform.sizes.size());
    std::iota(dims.begin(), dims.end(), 1);
    constexpr std::int64_t unscaled = 0;
    const auto compute = [&](torch::jit::Stack&) {
        const bool has_real_input = transform.form == TransformForm::real_to_complex;
        const bool has_real_output = transform.form == TransformForm::complex_to_real;
        const at::Tensor source =
            side_of(transform.input, transform.batch, input, has_real_input ? real : complex);
        const at::Tensor target =
            side_of(transform.output, transform.batch, output, has_real_output ? real : complex);
        switch (transform.form) {
        case TransformForm::complex_to_complex:
            target.copy_(at::_fft_c2c(source, dims, unscaled, transform.is_forward));
            break;
        case TransformForm::real_to_complex:
            target.copy_(at::_fft_r2c(source, dims, unscaled, true));
            break;
        case TransformForm::complex_to_real:
            target.copy_(at::_fft_c2r(source, dims, unscaled, transform.sizes.back()));
            break;
        }
    };
    try {
        torch::jit::Stack none;
        run_on_cpu(compute, none);
    } catch (const std::exception& error) {
        report_defect(std::string("a transform of cuFFT is not computed: ") + error.what());
    }
}

} // namespace cuda_simulator
