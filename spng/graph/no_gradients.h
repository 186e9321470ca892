// SPDX-License-Identifier: Apache-2.0
#pragma once
// The mode in which nodes work: no gradients.

#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>

namespace spng {

#ifdef NDEBUG
using NoGradients = c10::InferenceMode;
#else
/// Inference mode drops the version counters that show an in-place operation, so debug builds only switch
/// gradients off.
class NoGradients {
    c10::AutoGradMode m_mode{false};
};
#endif

} // namespace spng
