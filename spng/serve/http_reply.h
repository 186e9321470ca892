// SPDX-License-Identifier: Apache-2.0
#pragma once
// Requests to paths, without tensors.

#include "spng/kserve/json_codec.h"
#include "spng/kserve/protocol.h"
#include "spng/serve/http_server.h"

#include <string>
#include <string_view>

namespace spng {

/// A response before it is written.
struct HttpReply {
    unsigned status = 200;
    const char* type = "application/json";
    kserve::Body body = {};
};

/// Return the status of a failure in HTTP.
unsigned http_status(kserve::Status status);

HttpReply error_reply(unsigned status, const std::string& text);
HttpReply error_reply(const kserve::Failure& failure);

/// The target of a request, "/v2/models/pipeline/versions/1/infer".
struct Target {
    enum class Kind { server, live, ready, model, model_ready, infer, index, metrics, unknown };
    Kind kind = Kind::unknown;
    std::string model = {};
    std::string version = {};

    bool is_post() const { return kind == Kind::infer || kind == Kind::index; }
};

Target parse_target(std::string_view target);

/// Reply to a request that needs no tensors.
HttpReply reply_to(const Target& target, const HttpServices& services);

/// The error for a path or method that the server does not have.
HttpReply unknown_path(std::string_view target);

} // namespace spng
