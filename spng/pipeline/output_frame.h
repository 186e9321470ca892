// SPDX-License-Identifier: Apache-2.0
#pragma once
// From the result of a job to a frame for the caller.

#include "WireCellSpng/Pipeline.h"
#include "spng/core/tensor_set.h"

namespace spng {

/// Make a frame of a set of (channel, tick) tensors, dense or sparse. Samples are not copied, unless their form changes.
/// @param is_sparse  the form of the samples in the frame. Samples on a device stay dense
OutputFrame output_frame(const TensorSet& set, bool is_sparse);

} // namespace spng
