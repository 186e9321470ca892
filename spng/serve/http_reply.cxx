// SPDX-License-Identifier: Apache-2.0
#include "spng/serve/http_reply.h"

#include "spng/core/error.h"
#include "spng/core/printable.h"

#include <utility>
#include <vector>

namespace spng {
namespace {

/// Split at slashes, without the first one and without a query.
std::vector<std::string> parts_of(std::string_view target) {
    std::vector<std::string> parts;
    target = target.substr(0, target.find('?'));
    while (!target.empty() && parts.size() < 8) {
        target.remove_prefix(target.front() == '/' ? 1 : 0);
        const std::size_t end = target.find('/');
        parts.emplace_back(target.substr(0, end));
        target = end == std::string_view::npos ? std::string_view{} : target.substr(end);
    }
    return parts;
}

HttpReply json_reply(const nlohmann::json& value, unsigned status = 200) {
    return {.status = status, .body = {.json = value.dump()}};
}

/// The protocol demands a status of 400 and above for "no".
HttpReply health(const char* name, bool is_good) {
    return json_reply({{name, is_good}}, is_good ? 200 : 400);
}

} // namespace

unsigned http_status(kserve::Status status) {
    switch (status) {
    case kserve::Status::invalid:
        return 400;
    case kserve::Status::not_found:
        return 404;
    case kserve::Status::too_large:
        return 413;
    case kserve::Status::overloaded:
    case kserve::Status::unavailable:
        return 503;
    case kserve::Status::timeout:
        return 504;
    case kserve::Status::failed:
        break;
    }
    return 500;
}

HttpReply error_reply(unsigned status, const std::string& text) {
    return {.status = status, .body = {.json = kserve::error_json(text)}};
}

HttpReply error_reply(const kserve::Failure& failure) {
    return error_reply(http_status(failure.status), failure.text);
}

Target parse_target(std::string_view target) {
    const auto parts = parts_of(target);
    const auto is = [&](const std::vector<std::string>& wanted) { return parts == wanted; };
    using Kind = Target::Kind;
    if (is({"metrics"})) {
        return {Kind::metrics};
    }
    if (is({"v2"})) {
        return {Kind::server};
    }
    if (is({"v2", "health", "live"})) {
        return {Kind::live};
    }
    if (is({"v2", "health", "ready"})) {
        return {Kind::ready};
    }
    if (is({"v2", "repository", "index"})) {
        return {Kind::index};
    }
    if (parts.size() < 3 || parts[0] != "v2" || parts[1] != "models" || parts[2].empty()) {
        return {};
    }
    Target model{Kind::model, parts[2]};
    std::size_t next = 3;
    if (parts.size() > 4 && parts[3] == "versions") {
        model.version = parts[4];
        next = 5;
    }
    if (parts.size() == next + 1 && (parts[next] == "ready" || parts[next] == "infer")) {
        model.kind = parts[next] == "ready" ? Kind::model_ready : Kind::infer;
    } else if (parts.size() != next) {
        return {};
    }
    return model;
}

HttpReply unknown_path(std::string_view target) {
    const Error error(
        ErrorKind::Input,
        {.what = "the server has no such path",
         .where = "request",
         .seen = shortened(printable(target), 200),
         .expected = "GET /v2, /v2/health/live, /v2/health/ready, /v2/models/MODEL, "
                     "/v2/models/MODEL/ready, /metrics; POST /v2/models/MODEL/infer, /v2/repository/index",
         .hint = "docs/server.md has examples"});
    return error_reply(404, error.what());
}

HttpReply reply_to(const Target& target, const HttpServices& services) {
    const kserve::Handler& handler = services.handler;
    switch (target.kind) {
    case Target::Kind::server:
        return json_reply(to_json(handler.describe_server()));
    case Target::Kind::live:
        return health("live", handler.is_live());
    case Target::Kind::ready:
        return health("ready", handler.is_ready());
    case Target::Kind::model:
    case Target::Kind::model_ready: {
        const auto result = handler.describe(target.model, target.version);
        if (const auto* failure = std::get_if<kserve::Failure>(&result)) {
            return error_reply(*failure);
        }
        return target.kind == Target::Kind::model
                   ? json_reply(to_json(std::get<kserve::ModelDescription>(result)))
                   : health("ready", handler.is_ready());
    }
    case Target::Kind::index: {
        nlohmann::json list = nlohmann::json::array();
        for (const std::string& name : handler.model_names()) {
            list.push_back(
                {{"name", name}, {"version", "1"}, {"state", handler.is_ready() ? "READY" : "UNAVAILABLE"}});
        }
        return json_reply(list);
    }
    case Target::Kind::metrics: {
        HttpReply reply{.type = "text/plain; version=0.0.4; charset=utf-8"};
        reply.body.json = services.metrics();
        return reply;
    }
    case Target::Kind::infer:
    case Target::Kind::unknown:
        break;
    }
    return unknown_path("");
}

} // namespace spng
