// SPDX-License-Identifier: Apache-2.0
#include "spng/serve/http_reply.h"

#include "spng/core/error.h"
#include "spng/core/printable.h"
#include "spng/io/json_file.h"
#include "spng/kserve/status_codes.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace spng {
namespace {

/// Return the path of "/path?query" or "http://host/path?query", by which clients ask proxies.
std::string_view path_of(std::string_view target) {
    target = target.substr(0, target.find('?'));
    const std::size_t end = target.find("://");
    const bool is_absolute = !target.starts_with('/') && end != std::string_view::npos;
    return is_absolute ? target.substr(std::min(target.find('/', end + 3), target.size())) : target;
}

/// Split a path at slashes, without the first and the last one.
std::vector<std::string> parts_of(std::string_view target) {
    std::vector<std::string> parts;
    while (!target.empty() && parts.size() < 8) {
        target.remove_prefix(target.front() == '/' ? 1 : 0);
        const std::size_t end = target.find('/');
        parts.emplace_back(target.substr(0, end));
        target = end == std::string_view::npos ? std::string_view{} : target.substr(end);
    }
    if (!parts.empty() && parts.back().empty()) {
        parts.pop_back();
    }
    return parts;
}

HttpReply json_reply(const nlohmann::json& value, unsigned status = 200) {
    return {.status = status, .body = {.json = json_text(value)}};
}

/// The protocol demands a status of 400 and above for "no".
HttpReply health(const char* name, bool is_good) {
    return json_reply({{name, is_good}}, is_good ? 200 : 400);
}

/// Whether a request for the index is {"ready": true}.
bool wants_ready_models(std::string_view body) {
    const auto request = parsed_json(std::string(body));
    return request.is_object() && request.contains("ready") && request["ready"] == true;
}

} // namespace

HttpReply error_reply(unsigned status, const std::string& text) {
    return {.status = status, .body = {.json = kserve::error_json(text)}};
}

HttpReply error_reply(const kserve::Failure& failure) {
    return error_reply(kserve::codes_of(failure.status).http, failure.text);
}

Target parse_target(std::string_view target) {
    const std::string_view path = path_of(target);
    const auto parts = parts_of(path);
    using Kind = Target::Kind;
    if (path == "/" || path == "*") {
        return {Kind::root};
    }
    static const std::map<std::vector<std::string>, Kind> fixed{
        {{"metrics"}, Kind::metrics},
        {{"v2"}, Kind::server},
        {{"v2", "health", "live"}, Kind::live},
        {{"v2", "health", "ready"}, Kind::ready},
        {{"v2", "repository", "index"}, Kind::index},
        {{"v2", "models", "stats"}, Kind::statistics}};
    if (const auto found = fixed.find(parts); found != fixed.end()) {
        return {found->second};
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
    if (parts.size() == next) {
        return model;
    }
    static const std::map<std::string, Kind> kinds{{"ready", Kind::model_ready},
                                                   {"infer", Kind::infer},
                                                   {"config", Kind::config},
                                                   {"stats", Kind::statistics}};
    const auto kind = parts.size() == next + 1 ? kinds.find(parts[next]) : kinds.end();
    if (kind == kinds.end()) {
        return {};
    }
    model.kind = kind->second;
    return model;
}

HttpReply unknown_path(std::string_view target) {
    const Error error(ErrorKind::Input,
                      {.what = "the server has no such path",
                       .where = "request",
                       .seen = shortened(printable(target), 200),
                       .expected =
                           "GET /v2, /v2/health/live, /v2/health/ready, /v2/models/MODEL, "
                           "/v2/models/MODEL/ready, /v2/models/MODEL/config, /v2/models/MODEL/stats, "
                           "/v2/models/stats, /metrics; POST /v2/models/MODEL/infer, /v2/repository/index",
                       .hint = "docs/server.md has examples"});
    return error_reply(404, error.what());
}

HttpReply reply_to_options(const Target& target, const HttpServices& services) {
    HttpReply reply = health("ready", services.handler.is_ready());
    reply.allow = target.allow();
    return reply;
}

HttpReply reply_to(const Target& target, std::string_view body, const HttpServices& services) {
    const kserve::Handler& handler = services.handler;
    switch (target.kind) {
    case Target::Kind::server:
        return json_reply(to_json(handler.describe_server()));
    case Target::Kind::live:
        return health("live", handler.is_live());
    case Target::Kind::ready:
        return health("ready", handler.is_ready());
    case Target::Kind::model:
    case Target::Kind::config:
    case Target::Kind::model_ready: {
        const auto result = handler.describe(target.model, target.version);
        if (const auto* failure = std::get_if<kserve::Failure>(&result)) {
            return error_reply(*failure);
        }
        const auto& model = std::get<kserve::ModelDescription>(result);
        return target.kind == Target::Kind::model    ? json_reply(to_json(model))
               : target.kind == Target::Kind::config ? json_reply(config_json(model))
                                                     : health("ready", handler.is_ready());
    }
    case Target::Kind::statistics: {
        const auto result = handler.statistics(target.model, target.version);
        if (const auto* failure = std::get_if<kserve::Failure>(&result)) {
            return error_reply(*failure);
        }
        return json_reply(to_json(std::get<std::vector<kserve::ModelStatistics>>(result)));
    }
    case Target::Kind::index: {
        nlohmann::json list = nlohmann::json::array();
        const bool is_ready = handler.is_ready();
        for (const std::string& name : handler.model_names()) {
            if (is_ready || !wants_ready_models(body)) {
                list.push_back(
                    {{"name", name}, {"version", "1"}, {"state", is_ready ? "READY" : "UNAVAILABLE"}});
            }
        }
        return json_reply(list);
    }
    case Target::Kind::metrics: {
        HttpReply reply{.type = "text/plain; version=0.0.4; charset=utf-8"};
        reply.body.json = services.metrics();
        return reply;
    }
    case Target::Kind::root:
    case Target::Kind::infer:
    case Target::Kind::unknown:
        break;
    }
    return unknown_path("");
}

} // namespace spng
