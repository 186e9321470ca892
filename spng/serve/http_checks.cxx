// SPDX-License-Identifier: Apache-2.0
#include "spng/serve/http_checks.h"

#include "spng/core/error.h"
#include "spng/core/parse_value.h"
#include "spng/kserve/http_stream.h"

#include <utility>

namespace spng {
namespace {

namespace http = boost::beast::http;

constexpr const char* raise_limit = "wire-cell --serve-max-bytes BYTES raises the limit";

HttpReply too_large(const std::string& bytes, std::size_t limit, std::string hint) {
    return error_reply(413,
                       Error(ErrorKind::Input, {.what = "the request is too large",
                                                .where = "request",
                                                .seen = bytes + " bytes",
                                                .expected = "at most " + std::to_string(limit) + " bytes",
                                                .hint = std::move(hint)})
                           .what());
}

bool has_tensors(const RequestHeader& parser) {
    const auto target = parser.get().target();
    return parser.get().method() == http::verb::post &&
           parse_target({target.data(), target.size()}).kind == Target::Kind::infer;
}

template <class Field>
std::string header_field(const RequestHeader& parser, Field field) {
    return std::string(parser.get()[field]);
}

/// Return the parts of a body.
BodyLength parts_of(const RequestHeader& parser, std::size_t bytes) {
    const std::string given = header_field(parser, kserve::json_length_header);
    const auto json_bytes = given.empty() ? bytes : parse_value<std::uint64_t>(given);
    if (!json_bytes || *json_bytes > bytes) {
        return {.rejection = bad_request(400,
                                         std::string(kserve::json_length_header) + ": " + given +
                                             " in a body of " + std::to_string(bytes) + " bytes",
                                         "the length of the JSON, at most that of the body")};
    }
    if (*json_bytes > kserve::max_json_bytes) {
        return {.rejection = too_large(std::to_string(*json_bytes), kserve::max_json_bytes,
                                       "send large tensors in binary form")};
    }
    return {bytes, static_cast<std::size_t>(*json_bytes)};
}

} // namespace

BodyLength length_of(const RequestHeader& parser, std::size_t max_bytes) {
    const auto hosts = parser.get().count(http::field::host);
    if (hosts > 1 || (hosts == 0 && parser.get().version() >= 11)) {
        return {.rejection = bad_request(400, std::to_string(hosts) + " headers Host", "one")};
    }
    const std::string encoding = header_field(parser, http::field::content_encoding);
    const auto coding = coding_named(encoding);
    if (!coding) {
        return {.rejection = bad_request(415, "Content-Encoding: " + encoding, "gzip, deflate, or none")};
    }
    if (parser.chunked()) {
        return {.rejection = bad_request(411, "a body in chunks", "a Content-Length")};
    }
    const std::uint64_t bytes = parser.content_length().value_or(0);
    if (!has_tensors(parser) && bytes > max_ignored_bytes) {
        return {.rejection = too_large(std::to_string(bytes), max_ignored_bytes,
                                       "only POST /v2/models/MODEL/infer has tensors")};
    }
    if (bytes > max_bytes) {
        return {.rejection = too_large(std::to_string(bytes), max_bytes, raise_limit)};
    }
    return *coding == Coding::none ? parts_of(parser, bytes) : BodyLength{.bytes = bytes, .coding = *coding};
}

BodyLength length_of_unpacked(const RequestHeader& parser, std::optional<std::size_t> bytes,
                              std::size_t max_bytes) {
    return bytes ? parts_of(parser, *bytes)
                 : BodyLength{.rejection = too_large("unpacked more than " + std::to_string(max_bytes),
                                                     max_bytes, raise_limit)};
}

HttpReply bad_request(unsigned status, const std::string& seen, const std::string& expected) {
    return error_reply(
        status, Error(ErrorKind::Input, {.what = "this is not a request of the Open Inference Protocol "
                                                 "(KServe v2) over HTTP",
                                         .where = "request",
                                         .seen = seen,
                                         .expected = expected,
                                         .hint = "docs/server.md has examples"})
                    .what());
}

HttpReply overloaded(const std::string& seen, const std::string& expected) {
    return error_reply(503, Error(ErrorKind::Device, {.what = "the server is busy",
                                                      .where = "request",
                                                      .seen = seen,
                                                      .expected = expected,
                                                      .hint = "send it again later"})
                                .what());
}

} // namespace spng
