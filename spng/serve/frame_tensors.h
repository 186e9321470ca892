// SPDX-License-Identifier: Apache-2.0
#pragma once
// Frames as tensors of the Open Inference Protocol (docs/server.md#the-chain).

#include "WireCellSpng/Pipeline.h"
#include "spng/kserve/protocol.h"

#include <string>
#include <vector>

namespace spng {

/// The tensors of a chain's requests and responses.
/// @param channels  of frames without channel ids; 0: such frames are rejected
/// @param tags      of the result
kserve::ModelDescription describe_chain(const std::string& name, std::int64_t channels,
                                        const std::vector<std::string>& tags);

/// Make the frame of a request. Its samples are those of the request, not copied.
/// @throws Error(Input) for tensors and parameters that are missing, unknown or of another type or shape. Values are checked
/// where those of files are
InputFrame input_frame(const kserve::InferRequest& request);

/// The outputs that a request asks for.
struct WantedOutputs {
    std::vector<std::string> names; ///< empty: the dense samples of all tags
    bool dense = true;
    bool sparse = false;

    bool wants(const std::string& name) const;
};

/// Read the outputs of a request.
/// @param tags  of the result; empty: not known before the result
/// @throws Error(Input) for an output that the chain does not have
WantedOutputs wanted_outputs(const kserve::InferRequest& request, const std::vector<std::string>& tags);

/// Make the response. Its tensors point to the samples of the frames.
/// @param dense   null if not wanted
/// @param sparse  null if not wanted
/// @throws Error(Input) for a wanted output that the frames do not have
kserve::InferResponse response_of(const kserve::InferRequest& request, const WantedOutputs& wanted,
                                  const OutputFrame* dense, const OutputFrame* sparse);

} // namespace spng
