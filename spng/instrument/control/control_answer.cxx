// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/control/control_answer.h"

#include "spng/instrument/capture_switch.h"
#include "spng/instrument/control/prometheus.h"

namespace spng::instrument {
namespace {

namespace http = boost::beast::http;

/// Compare in a time that does not depend on the number of equal characters.
bool same(const std::string& left, const std::string& right) {
    unsigned different = left.size() == right.size() ? 0 : 1;
    for (std::size_t i = 0; i < right.size(); ++i) {
        different |=
            static_cast<unsigned char>(right[i]) ^ static_cast<unsigned char>(i < left.size() ? left[i] : 0);
    }
    return different == 0;
}

ControlResponse response(http::status status, const std::string& text, const char* type = "text/plain") {
    ControlResponse answer(status, 11);
    answer.set(http::field::content_type, type);
    answer.keep_alive(false);
    answer.body() = text;
    answer.prepare_payload();
    return answer;
}

ControlResponse switched(bool open) {
    switch (recording::switch_window(open)) {
    case recording::Switched::done:
        return response(http::status::ok, open ? "recording\n" : "not recording\n");
    case recording::Switched::already:
        return response(http::status::ok, open ? "was recording already\n" : "was not recording\n");
    case recording::Switched::nothing_recorded:
        return response(http::status::conflict, "this job was started without --record\n");
    case recording::Switched::by_events:
        break;
    }
    return response(http::status::conflict,
                    "--profile-events or --profile-schedule controls the recording\n");
}

} // namespace

ControlResponse error_response(http::status status, const std::string& text) {
    return response(status, text + "\n");
}

ControlResponse answer(const ControlRequest& request, const std::string& token) {
    if (!token.empty() && !same(std::string(request[http::field::authorization]), "Bearer " + token)) {
        auto rejected = error_response(http::status::unauthorized, "a token is needed");
        rejected.set(http::field::www_authenticate, "Bearer");
        return rejected;
    }
    const std::string target(request.target());
    const bool changes = target == "/start_profile" || target == "/stop_profile";
    if (!changes && target != "/timings" && target != "/health") {
        return error_response(http::status::not_found,
                              "POST /start_profile, POST /stop_profile, GET /timings, GET /health");
    }
    if (request.method() != (changes ? http::verb::post : http::verb::get)) {
        auto rejected = error_response(http::status::method_not_allowed, changes ? "POST only" : "GET only");
        rejected.set(http::field::allow, changes ? "POST" : "GET");
        return rejected;
    }
    if (changes) {
        return switched(target == "/start_profile");
    }
    if (target == "/health") {
        return response(http::status::ok, "ok\n");
    }
    return response(http::status::ok, prometheus_text(recording::window_is_open()),
                    "text/plain; version=0.0.4; charset=utf-8");
}

} // namespace spng::instrument
