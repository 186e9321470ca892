// SPDX-License-Identifier: Apache-2.0
// libcufft.so.12 on the simulated runtime: the functions that LibTorch imports.
// Transforms are operations of a stream.

#include "tests/cuda_simulator/fft/transform.h"
#include "tests/cuda_simulator/simulator.h"

#include <cufft.h>
#include <cufftXt.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>

namespace cuda_simulator {
namespace {

struct Plan {
    Transform transform;
    std::size_t work_bytes = 0;
    bool is_made = false;
    bool allocates = true; ///< its work area by itself
    void* work_area = nullptr;
    cudaStream_t stream = nullptr;
};

/// All plans by handle.
class Plans {
public:
    cufftHandle add() {
        const std::lock_guard lock(m_mutex);
        m_plans[++m_last] = std::make_shared<Plan>();
        return m_last;
    }
    std::shared_ptr<Plan> find(cufftHandle handle) {
        const std::lock_guard lock(m_mutex);
        const auto found = m_plans.find(handle);
        return found == m_plans.end() ? nullptr : found->second;
    }
    bool remove(cufftHandle handle) {
        const std::lock_guard lock(m_mutex);
        return m_plans.erase(handle) > 0;
    }

private:
    std::mutex m_mutex;
    std::map<cufftHandle, std::shared_ptr<Plan>> m_plans;
    cufftHandle m_last = 0;
};

Plans& plans() {
    static auto& all = *new Plans; // LibTorch destroys plans after static objects of this library
    return all;
}

std::atomic<TransformFunction> transform_function = nullptr;

struct Types {
    TransformForm form;
    bool is_double;
};

/// @return nothing if there is no transform between these types
std::unique_ptr<Types> types_of(cudaDataType input, cudaDataType output, cudaDataType execution) {
    const bool is_double = execution == CUDA_C_64F;
    const cudaDataType complex = is_double ? CUDA_C_64F : CUDA_C_32F;
    const cudaDataType real = is_double ? CUDA_R_64F : CUDA_R_32F;
    if (execution != complex) {
        return nullptr;
    }
    if (input == complex && output == complex) {
        return std::make_unique<Types>(TransformForm::complex_to_complex, is_double);
    }
    if (input == real && output == complex) {
        return std::make_unique<Types>(TransformForm::real_to_complex, is_double);
    }
    if (input == complex && output == real) {
        return std::make_unique<Types>(TransformForm::complex_to_real, is_double);
    }
    return nullptr;
}

/// Sizes of the values that one side stores.
std::vector<std::int64_t> stored_sizes(const std::vector<std::int64_t>& sizes, bool is_half) {
    std::vector<std::int64_t> stored = sizes;
    if (is_half) {
        stored.back() = sizes.back() / 2 + 1;
    }
    return stored;
}

/// Layout by cuFFT's rules. Without `embed` the values are dense, and `stride` and `distance` do not count.
TransformLayout layout_of(std::vector<std::int64_t> sizes, const long long* embed, long long stride,
                          long long distance) {
    TransformLayout layout;
    const std::size_t rank = sizes.size();
    layout.strides.resize(rank);
    std::int64_t step = embed == nullptr ? 1 : stride;
    for (std::size_t i = rank; i-- > 0;) {
        layout.strides[i] = step;
        step *= embed == nullptr ? sizes[i] : embed[i];
    }
    layout.distance = embed == nullptr ? step : distance;
    layout.sizes = std::move(sizes);
    return layout;
}

/// Bytes from the first to the last value of a side.
std::size_t bytes_of(const TransformLayout& layout, std::int64_t batch, bool is_complex, bool is_double) {
    std::int64_t last = (batch - 1) * layout.distance;
    for (std::size_t i = 0; i < layout.sizes.size(); ++i) {
        last += (layout.sizes[i] - 1) * layout.strides[i];
    }
    return static_cast<std::size_t>(last + 1) * (is_complex ? 2 : 1) * (is_double ? 8 : 4);
}

/// Number of values of a side in all transforms of a batch.
std::size_t values_of(const TransformLayout& layout, const Transform& transform) {
    return std::accumulate(layout.sizes.begin(), layout.sizes.end(),
                           static_cast<std::size_t>(transform.batch), std::multiplies<std::size_t>());
}

/// Name of the operation: form, sizes and batch.
std::string name_of(const Transform& transform) {
    std::string name;
    switch (transform.form) {
    case TransformForm::complex_to_complex:
        name = transform.is_double ? "z2z" : "c2c";
        break;
    case TransformForm::real_to_complex:
        name = transform.is_double ? "d2z" : "r2c";
        break;
    case TransformForm::complex_to_real:
        name = transform.is_double ? "z2d" : "c2r";
        break;
    }
    for (const std::int64_t size : transform.sizes) {
        name += "_" + std::to_string(size);
    }
    return "cufft_" + name + "_batch_" + std::to_string(transform.batch);
}

} // namespace
} // namespace cuda_simulator

using namespace cuda_simulator;

extern "C" {

void cuda_simulator::cuda_simulator_set_transform(TransformFunction function) {
    transform_function = function;
}

cufftResult cufftCreate(cufftHandle* handle) {
    if (handle == nullptr) {
        return CUFFT_INVALID_VALUE;
    }
    *handle = plans().add();
    return CUFFT_SUCCESS;
}

cufftResult cufftDestroy(cufftHandle handle) {
    return plans().remove(handle) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

cufftResult cufftSetAutoAllocation(cufftHandle handle, int allocates) {
    const auto plan = plans().find(handle);
    if (plan == nullptr) {
        return CUFFT_INVALID_PLAN;
    }
    plan->allocates = allocates != 0;
    return CUFFT_SUCCESS;
}

cufftResult cufftSetStream(cufftHandle handle, cudaStream_t stream) {
    const auto plan = plans().find(handle);
    if (plan == nullptr) {
        return CUFFT_INVALID_PLAN;
    }
    plan->stream = stream;
    return CUFFT_SUCCESS;
}

cufftResult cufftSetWorkArea(cufftHandle handle, void* area) {
    const auto plan = plans().find(handle);
    if (plan == nullptr) {
        return CUFFT_INVALID_PLAN;
    }
    plan->work_area = area;
    return CUFFT_SUCCESS;
}

cufftResult cufftXtMakePlanMany(cufftHandle handle, int rank, long long int* sizes,
                                long long int* input_embed, long long int input_stride,
                                long long int input_distance, cudaDataType input_type,
                                long long int* output_embed, long long int output_stride,
                                long long int output_distance, cudaDataType output_type, long long int batch,
                                std::size_t* work_bytes, cudaDataType execution_type) {
    const auto plan = plans().find(handle);
    if (plan == nullptr || plan->is_made) {
        return CUFFT_INVALID_PLAN;
    }
    if (sizes == nullptr || work_bytes == nullptr) {
        return CUFFT_INVALID_VALUE;
    }
    const auto is_positive = [](long long size) { return size > 0; };
    if (rank < 1 || rank > 3 || batch < 1 || !std::all_of(sizes, sizes + rank, is_positive)) {
        return CUFFT_INVALID_SIZE;
    }
    const auto types = types_of(input_type, output_type, execution_type);
    if (types == nullptr) {
        return CUFFT_INVALID_TYPE;
    }
    Transform& transform = plan->transform;
    transform.form = types->form;
    transform.is_double = types->is_double;
    transform.sizes.assign(sizes, sizes + rank);
    transform.batch = batch;
    // Both layouts are dense unless both are given.
    const bool is_dense = input_embed == nullptr || output_embed == nullptr;
    transform.input =
        layout_of(stored_sizes(transform.sizes, transform.form == TransformForm::complex_to_real),
                  is_dense ? nullptr : input_embed, input_stride, input_distance);
    transform.output =
        layout_of(stored_sizes(transform.sizes, transform.form == TransformForm::real_to_complex),
                  is_dense ? nullptr : output_embed, output_stride, output_distance);
    plan->work_bytes = std::accumulate(sizes, sizes + rank, static_cast<std::size_t>(batch),
                                       std::multiplies<std::size_t>()) *
                       (transform.is_double ? 16 : 8);
    plan->is_made = true;
    *work_bytes = plan->work_bytes;
    return CUFFT_SUCCESS;
}

cufftResult cufftXtExec(cufftHandle handle, void* input, void* output, int direction) {
    const auto plan = plans().find(handle);
    if (plan == nullptr || !plan->is_made) {
        return CUFFT_INVALID_PLAN;
    }
    if (input == nullptr || output == nullptr || (direction != CUFFT_FORWARD && direction != CUFFT_INVERSE)) {
        return CUFFT_INVALID_VALUE;
    }
    if (!plan->allocates && plan->work_area == nullptr) {
        return CUFFT_NO_WORKSPACE;
    }
    Transform transform = plan->transform;
    transform.is_forward = direction == CUFFT_FORWARD;
    const bool input_is_complex = transform.form != TransformForm::real_to_complex;
    const bool output_is_complex = transform.form != TransformForm::complex_to_real;
    const std::size_t real_bytes = transform.is_double ? 8 : 4;
    const std::size_t input_bytes =
        bytes_of(transform.input, transform.batch, input_is_complex, transform.is_double);
    const std::size_t output_bytes =
        bytes_of(transform.output, transform.batch, output_is_complex, transform.is_double);
    Operation operation{
        .kind = Kind::transform,
        .name = name_of(transform),
        .accesses = {{input, input_bytes, false}, {output, output_bytes, true}},
        .compute = {},
        .bytes = input_bytes + output_bytes,
        .traffic = {.read = values_of(transform.input, transform) * (input_is_complex ? 2 : 1) * real_bytes,
                    .written =
                        values_of(transform.output, transform) * (output_is_complex ? 2 : 1) * real_bytes}};
    if (!plan->allocates) {
        operation.accesses.push_back({plan->work_area, plan->work_bytes, true});
    }
    const TransformFunction function = transform_function;
    if (function == nullptr) {
        report_defect("cuFFT's transform " + operation.name +
                      " is not computed: no library sets the function");
    } else {
        operation.compute = [=, transform = std::move(transform), source = host_address(input),
                             target = host_address(output)] { function(transform, source, target); };
    }
    enqueue(plan->stream, std::move(operation));
    return CUFFT_SUCCESS;
}

} // extern "C"
