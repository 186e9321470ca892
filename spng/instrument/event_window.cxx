// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/event_window.h"

#include "spng/core/error.h"
#include "spng/core/nearest.h"
#include "spng/core/parse_number.h"

#include <map>
#include <vector>

namespace spng::instrument {
namespace {

// This bound also keeps sums of the counts below from overflowing.
constexpr std::uint64_t largest = 1'000'000'000'000;

[[noreturn]] void reject(const std::string& where, const std::string& seen, const std::string& expected,
                         const std::string& hint = {}) {
    throw Error(ErrorKind::Usage, {.what = where + " does not select events",
                                   .where = where,
                                   .seen = "'" + seen + "'",
                                   .expected = expected,
                                   .hint = hint});
}

/// Return the integer, 0 to `largest`; nothing for any other text.
std::optional<std::uint64_t> integer_from(const std::string& text) {
    const auto value = parse_number<std::uint64_t>(text);
    return value && *value <= largest ? value : std::nullopt;
}

} // namespace

EventWindow EventWindow::from_range(const std::string& text, const std::string& where) {
    const auto dash = text.find('-');
    const auto first = integer_from(text.substr(0, dash));
    const std::string rest = dash == std::string::npos ? "" : text.substr(dash + 1);
    const bool open_end = dash != std::string::npos && rest.empty();
    const auto last = dash == std::string::npos ? first : open_end ? largest : integer_from(rest);
    if (!first || !last || *last < *first) {
        reject(where, text, "A, A-B or A-, events counted from 0, A not after B", "for example 2-5");
    }
    EventWindow window;
    window.m_limited = true;
    window.m_wait = *first;
    window.m_active = *last - *first + 1;
    window.m_repeat = 1;
    return window;
}

EventWindow EventWindow::from_schedule(const std::string& text, const std::string& where) {
    std::map<std::string, std::uint64_t> values{{"wait", 0}, {"warmup", 0}, {"active", 0}, {"repeat", 0}};
    const std::string expected = "wait=W,warmup=U,active=A,repeat=R, with active at least 1";
    for (std::size_t begin = 0; begin <= text.size();) {
        const auto end = std::min(text.find(',', begin), text.size());
        const std::string item = text.substr(begin, end - begin);
        const auto equals = item.find('=');
        const auto known = values.find(item.substr(0, equals));
        const auto value = equals == std::string::npos ? std::nullopt : integer_from(item.substr(equals + 1));
        if (known == values.end() || !value) {
            reject(where, text, expected,
                   suggestion(item.substr(0, equals), {"wait", "warmup", "active", "repeat"}));
        }
        known->second = *value;
        begin = end + 1;
    }
    if (values["active"] == 0) {
        reject(where, text, expected);
    }
    EventWindow window;
    window.m_limited = true;
    window.m_wait = values["wait"];
    window.m_warm_up = values["warmup"];
    window.m_active = values["active"];
    window.m_repeat = values["repeat"];
    return window;
}

Capture EventWindow::capture(std::uint64_t event) const {
    if (!m_limited) {
        return Capture::active;
    }
    const std::uint64_t cycle = m_wait + m_warm_up + m_active;
    const std::uint64_t position = event % cycle;
    if ((m_repeat != 0 && event / cycle >= m_repeat) || position < m_wait) {
        return Capture::none;
    }
    return position < m_wait + m_warm_up ? Capture::warm_up : Capture::active;
}

} // namespace spng::instrument
