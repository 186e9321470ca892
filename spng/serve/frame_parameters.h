// SPDX-License-Identifier: Apache-2.0
#pragma once
// Values of a frame besides its tensors, as parameters of requests and responses (docs/server.md#the-chain).

#include "WireCellSpng/Pipeline.h"
#include "spng/kserve/protocol.h"

#include <string>

namespace spng {

/// Set the ident, the times and the masks of a frame.
/// @throws Error(Input) for parameters that are unknown or of another type, and for integers that do not fit. Values are
/// checked where those of files are
void set_parameters(InputFrame& frame, const kserve::Parameters& parameters, const std::string& where);

/// Return the parameters of a response: ident and times, masks and notes as JSON, and the warnings about the input as text.
kserve::Parameters parameters_of(const OutputFrame& frame);

} // namespace spng
