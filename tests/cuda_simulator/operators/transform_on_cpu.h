// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/cuda_simulator/fft/transform.h"

namespace cuda_simulator {

/// Compute a transform of cuFFT by the FFT of LibTorch for the CPU.
void transform_on_cpu(const Transform& transform, void* input, void* output);

} // namespace cuda_simulator
