// SPDX-License-Identifier: Apache-2.0
#pragma once
// Checks of an HTTP request before its body is read.

#include "spng/serve/content_coding.h"
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
    std::size_t bytes = 0, json_bytes = 0; ///< of a compressed body: json_bytes is 0
    Coding coding = Coding::none;
    std::optional<HttpReply> rejection{};
};

using RequestHeader = boost::beast::http::request_parser<boost::beast::http::empty_body>;

/// Return the length of the body that follows a header.
/// @param max_bytes  of a request with tensors
BodyLength length_of(const RequestHeader& parser, std::size_t max_bytes);

/// Return the length of a body after it was unpacked.
/// @param bytes  nothing: more than max_bytes
BodyLength length_of_unpacked(const RequestHeader& parser, std::optional<std::size_t> bytes,
                              std::size_t max_bytes);

/// Return the reply to a message that is not a request of the protocol.
HttpReply bad_request(unsigned status, const std::string& seen, const std::string& expected);

/// Return the reply 503.
HttpReply overloaded(const std::string& seen, const std::string& expected);

} // namespace spng
