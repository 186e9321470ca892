// SPDX-License-Identifier: Apache-2.0
#include "spng/core/log/input_warning.h"

#include "spng/core/log/log.h"

#include <atomic>

namespace spng {
namespace {

std::atomic<bool>& strict_flag() {
    static std::atomic<bool> flag{false};
    return flag;
}

} // namespace

void set_strict(bool strict) {
    strict_flag() = strict;
}

bool is_strict() {
    return strict_flag();
}

std::string input_warning_line(const ErrorText& text) {
    std::string line = text.what;
    if (!text.where.empty()) {
        line += " (" + text.where + ")";
    }
    line += ": seen " + text.seen + ", expected " + text.expected;
    if (!text.hint.empty()) {
        line += "; hint: " + text.hint;
    }
    return line;
}

std::string log_input_warning(const std::string& logger, const ErrorText& text) {
    std::string line = input_warning_line(text);
    log::warn(logger, line);
    return line;
}

std::string warn_about_input(const std::string& logger, const ErrorText& text) {
    if (is_strict()) {
        throw Error(ErrorKind::Input, text);
    }
    return log_input_warning(logger, text);
}

} // namespace spng
