// SPDX-License-Identifier: Apache-2.0
#pragma once
// The JSON of the Open Inference Protocol over HTTP, with its extension for binary tensors: the body is JSON,
// then the bytes of the tensors that have the parameter binary_data_size, in order.

#include "spng/kserve/json_descriptions.h"
#include "spng/kserve/protocol.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace spng::kserve {

/// Name of the HTTP header with the length of the JSON, present if binary tensors follow.
inline constexpr const char* json_length_header = "Inference-Header-Content-Length";

/// Limit of the JSON of a body. A parsed value takes up to 40 times its text (measured: digits 16, empty
/// strings 26, empty objects 31), so a request can take 1.3 GB while it is parsed. Larger tensors are sent in
/// binary form.
inline constexpr std::size_t max_json_bytes = std::size_t{32} << 20;

/// A body to send.
struct Body {
    std::string json;
    std::vector<Tensor> binary = {}; ///< their bytes follow the JSON

    std::size_t bytes() const;
};

/// A body that was received.
struct BodyView {
    std::string_view json;
    std::string_view binary = {};
    std::shared_ptr<const void> owner = {}; ///< keeps both alive
};

/// Parse a request. Its binary tensors point into the body.
/// @param model  of the path, for errors too
/// @throws Error(Input) for anything but a request with all its bytes
InferRequest parse_infer_request(const BodyView& body, const std::string& model);

/// Encode a response. Outputs are binary where the request asks for it: by its parameter binary_data_output,
/// or by the parameter binary_data of the output.
Body encode_response(InferResponse response, const InferRequest& request);

/// Encode a request with binary tensors that asks for binary outputs. It points to the data of the request.
Body encode_request(const InferRequest& request);

/// Parse a response, as parse_infer_request().
InferResponse parse_infer_response(const BodyView& body, const std::string& model);

/// @throws Error(Input) for anything but the description of a model
ModelDescription parse_model_description(std::string_view json, const std::string& model);

/// Return {"error": text}.
std::string error_json(const std::string& text);
/// Return the text of {"error": text}, or else the beginning of the body.
std::string error_of_json(std::string_view body);

} // namespace spng::kserve
