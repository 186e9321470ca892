// SPDX-License-Identifier: Apache-2.0
#pragma once
// Checks of an HTTP request before its body is read.

#include "spng/serve/http_reply.h"

#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>

#include <cstddef>
#include <optional>
#include <string>

namespace spng {

/// Limit of the body of a request without tensors, which is read and ignored.
inline constexpr std::size_t max_ignored_bytes = std::size_t{1} << 16;

/// The length of a request's body, or the reply that rejects it.
struct BodyLength {
    std::size_t bytes = 0, json_bytes = 0;
    std::optional<HttpReply> rejection{};
};

/// Return the length of the body that follows a header.
/// @param max_bytes  of a request with tensors
BodyLength length_of(const boost::beast::http::request_parser<boost::beast::http::empty_body>& parser,
                     std::size_t max_bytes);

/// Return the reply to a message that is not a request of the protocol.
HttpReply bad_request(unsigned status, const std::string& seen, const std::string& expected);

/// Return the reply 503.
HttpReply overloaded(const std::string& seen, const std::string& expected);

} // namespace spng
