// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/beast/http/message.hpp>
#include <boost/beast/http/string_body.hpp>

#include <string>

namespace spng::instrument {

using ControlRequest = boost::beast::http::request<boost::beast::http::string_body>;
using ControlResponse = boost::beast::http::response<boost::beast::http::string_body>;

/// Execute a request and make its response.
/// @param token  what "Authorization: Bearer ..." must show; "" for none. Otherwise 401.
ControlResponse answer(const ControlRequest& request, const std::string& token);

/// Make the response to a request that cannot be read.
ControlResponse error_response(boost::beast::http::status status, const std::string& text);

} // namespace spng::instrument
