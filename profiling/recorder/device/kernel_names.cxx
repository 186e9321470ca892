// SPDX-License-Identifier: Apache-2.0
#include "profiling/recorder/device/kernel_names.h"

#include <cstdlib>
#include <cxxabi.h>
#include <memory>

namespace spng::recorder {
namespace {

/// Return the position of the bracket that matches the closing bracket at `end` - 1.
std::size_t opening(const std::string& text, std::size_t end, char open, char close) {
    int depth = 0;
    for (std::size_t position = end; position-- > 0;) {
        depth += text[position] == close ? 1 : text[position] == open ? -1 : 0;
        if (depth == 0) {
            return position;
        }
    }
    return std::string::npos;
}

} // namespace

std::string demangle(const std::string& name) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
    return status == 0 && text ? text.get() : name;
}

std::string short_kernel_name(const std::string& demangled) {
    std::size_t end = demangled.size();
    for (const auto& [open, close] : {std::pair{'(', ')'}, std::pair{'<', '>'}}) {
        while (end > 0 && demangled[end - 1] == close) {
            const std::size_t begin = opening(demangled, end, open, close);
            if (begin == std::string::npos || begin == 0) {
                return demangled;
            }
            end = begin;
        }
    }
    const std::size_t before = demangled.find_last_of(": ", end - 1);
    return demangled.substr(before == std::string::npos ? 0 : before + 1,
                            before == std::string::npos ? end : end - before - 1);
}

} // namespace spng::recorder
