// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/targets/targets.h"
#include "tests/fuzz/target.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace spng::fuzz {
namespace {

/// Return the first words of an error, without digits and up to the first quote, because the rest repeats the input.
std::string kind_of(const std::string& text) {
    constexpr int max_words = 5;
    std::string kind;
    int words = 1;
    for (const char c : text) {
        words += c == ' ' ? 1 : 0;
        const bool is_quote = c == '"' || (c == '\'' && (kind.empty() || kind.back() == ' '));
        if (words > max_words || is_quote) {
            break;
        }
        if (std::isdigit(static_cast<unsigned char>(c)) == 0) {
            kind += c;
        }
    }
    return kind.starts_with("unknown option") ? "unknown option" : kind;
}

/// Return the key that an error names last.
std::string key_of(const std::string& where) {
    const std::size_t at = where.rfind(", key ");
    return at == std::string::npos ? "" : where.substr(at);
}

/// Return whether a text has no control characters and is UTF-8, which JSON requires.
bool is_printable(const std::string& text) {
    const bool has_controls = std::any_of(text.begin(), text.end(), [](unsigned char c) {
        return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7F;
    });
    const auto lenient = nlohmann::json::error_handler_t::ignore; // leaves out wrong bytes
    return !has_controls && nlohmann::json::parse(nlohmann::json(text).dump(-1, ' ', false, lenient)) == text;
}

} // namespace

void Results::add(const std::string& result) {
    m_all.insert(result);
}

void Results::add(const Error& error) {
    const ErrorText& text = error.text();
    if (error.kind() == ErrorKind::Internal) {
        throw Defect(std::string("an error that reports a defect of the program: ") + error.what());
    }
    for (const auto& [name, field] :
         {std::pair{"what", &text.what}, {"where", &text.where}, {"seen", &text.seen}}) {
        // The message of Jsonnet says what it found.
        if (field->empty() && !text.what.starts_with("the configuration ")) {
            throw Defect(std::string("an error without '") + name + "': " + error.what());
        }
    }
    if (!is_printable(error.what())) {
        throw Defect("an error with unprintable characters: " + kind_of(text.what));
    }
    add(kind_of(text.what) + " | " + kind_of(text.expected) + key_of(text.where));
}

std::span<const Target> targets() {
    static const std::array all{command_line_target(), configuration_target(), control_target(),
                                depositions_target(),  frames_target(),        inference_target(),
                                jsonnet_target(),      lists_target(),         masks_target(),
                                noise_target(),        npy_target(),           responses_target(),
                                wires_target()};
    return all;
}

const Target& target_named(const std::string& name) {
    static const Target broken = broken_target();
    const auto known = targets();
    const auto found =
        std::find_if(known.begin(), known.end(), [&](const Target& target) { return target.name == name; });
    if (found == known.end() && name != broken.name) {
        throw std::invalid_argument("no target '" + name + "'; see --list");
    }
    return found == known.end() ? broken : *found;
}

} // namespace spng::fuzz
