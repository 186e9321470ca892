// SPDX-License-Identifier: Apache-2.0
#pragma once
// From the result of a job to a frame for the caller.

#include "WireCellSpng/Pipeline.h"
#include "spng/core/tensor_set.h"
#include "spng/io/frame.h"

namespace spng {

/// Forms of the samples of an OutputFrame. as_it_is: dense or sparse like the frame, with its runs; sparse: the
/// shortest runs.
enum class OutputForm { as_it_is, dense, sparse };

/// Make a frame for the caller. Samples are not copied, unless their form changes. Samples on a device stay dense.
OutputFrame output_frame(Frame frame, OutputForm form);

/// The same for a set of (channel, tick) tensors, dense or sparse.
OutputFrame output_frame(const TensorSet& set, OutputForm form);

} // namespace spng
