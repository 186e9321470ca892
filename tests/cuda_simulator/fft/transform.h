// SPDX-License-Identifier: Apache-2.0
#pragma once
// One transform of the simulated libcufft.so.12, and who computes it.

#include <cstdint>
#include <vector>

namespace cuda_simulator {

/// The position where the values of a side of a transform are, in values of its type.
struct TransformLayout {
    std::vector<std::int64_t> sizes; ///< stored: the last one is half in the spectrum of real values
    std::vector<std::int64_t> strides;
    std::int64_t distance = 0; ///< from one transform of the batch to the next
};

enum class TransformForm { complex_to_complex, real_to_complex, complex_to_real };

/// A batch of transforms over all dimensions, not normalised.
struct Transform {
    TransformForm form = TransformForm::complex_to_complex;
    bool is_double = false;
    bool is_forward = true;
    std::vector<std::int64_t> sizes; ///< of the transform
    std::int64_t batch = 0;
    TransformLayout input, output;
};

/// Compute on memory of the host. The output may be the input.
using TransformFunction = void (*)(const Transform& transform, void* input, void* output);

/// Set who computes transforms: libSpngSimulatedOperators.so does.
extern "C" void cuda_simulator_set_transform(TransformFunction function);

} // namespace cuda_simulator
