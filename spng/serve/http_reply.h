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
    const char* allow = nullptr; ///< methods of the path, for replies to OPTIONS and 405
};

HttpReply error_reply(unsigned status, const std::string& text);
HttpReply error_reply(const kserve::Failure& failure);

/// The target of a request, "/v2/models/pipeline/versions/1/infer".
struct Target {
    enum class Kind {
        root, ///< "/" and "*", for OPTIONS alone
        server,
        live,
        ready,
        model,
        model_ready,
        config,
        statistics,
        infer,
        index,
        metrics,
        unknown
    };
    Kind kind = Kind::unknown;
    std::string model = {}; ///< empty: statistics of all models
    std::string version = {};

    bool is_post() const { return kind == Kind::infer || kind == Kind::index; }
    const char* allow() const { return is_post() ? "POST, OPTIONS" : "GET, HEAD, OPTIONS"; }
};

Target parse_target(std::string_view target);

/// Reply to a request that needs no tensors.
/// @param body  JSON, of requests for the index
HttpReply reply_to(const Target& target, std::string_view body, const HttpServices& services);

/// Reply to OPTIONS, by which load balancers ask: the methods of the path, and whether the server is ready.
HttpReply reply_to_options(const Target& target, const HttpServices& services);

/// The error for a path or method that the server does not have.
HttpReply unknown_path(std::string_view target);

} // namespace spng
