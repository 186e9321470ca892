// SPDX-License-Identifier: Apache-2.0
#include "spng/core/field.h"

#include "spng/core/printable.h"

#include <algorithm>
#include <sstream>

namespace spng {

std::string Range::text() const {
    std::ostringstream out;
    out.precision(15); // all digits of the largest int
    if (choices[0] != nullptr) {
        out << "one of";
        for (std::size_t i = 0; i < choices.size() && choices[i] != nullptr; ++i) {
            out << (i == 0 ? " '" : ", '") << choices[i] << "'";
        }
        return out.str();
    }
    const bool has_low = std::isfinite(low);
    const bool has_high = std::isfinite(high);
    if (has_low && has_high) {
        out << low << (low_is_open ? " < value <= " : " <= value <= ") << high;
    } else if (has_low) {
        out << (low_is_open ? "> " : ">= ") << low;
    } else if (has_high) {
        out << "<= " << high;
    }
    return out.str();
}

bool Range::admits(const std::string& value) const {
    if (not_empty && value.empty()) {
        return false;
    }
    if (choices[0] == nullptr) {
        return true;
    }
    return std::any_of(choices.begin(), choices.end(),
                       [&](const char* choice) { return choice != nullptr && value == choice; });
}

namespace detail {
namespace {

std::string shortened(const nlohmann::json& seen) {
    std::string text = json_text(seen);
    return text.size() > 120 ? text.substr(0, 117) + "..." : text;
}

} // namespace

void wrong_type(const std::string& where, const nlohmann::json& seen, const std::string& expected) {
    // pgraph.jsonnet makes nodes with these keys.
    const bool is_node = seen.is_object() && seen.contains("iports") && seen.contains("oports");
    throw Error(ErrorKind::Configuration,
                {.what = "wrong type of a configuration value",
                 .where = where,
                 .seen = shortened(seen) + " (" + seen.type_name() + ")",
                 .expected = expected,
                 .hint = is_node ? "the value is a node of the graph: see the order of the arguments of the "
                                   "function that makes this component"
                                 : ""});
}

void out_of_range(const std::string& where, const nlohmann::json& seen, const Range& range,
                  const char* unit) {
    std::string expected = range.text().empty() ? "a value that fits the type" : range.text();
    if (!std::string(unit).empty() && std::string(unit) != "1") {
        expected += std::string(" [") + unit + "]";
    }
    if (range.not_empty && (seen == "" || seen == nlohmann::json::array())) {
        expected = "a value that is not empty";
    }
    std::string hint;
    if (seen.is_string() && range.choices[0] != nullptr) {
        std::vector<std::string> choices;
        for (std::size_t i = 0; i < range.choices.size() && range.choices[i] != nullptr; ++i) {
            choices.emplace_back(range.choices[i]);
        }
        hint = suggestion(seen.get<std::string>(), choices, "");
    }
    throw Error(ErrorKind::Configuration, {.what = "configuration value out of range",
                                           .where = where,
                                           .seen = shortened(seen),
                                           .expected = expected,
                                           .hint = hint});
}

void unknown_key(const std::string& where, const std::string& key, const std::vector<std::string>& known) {
    throw Error(
        ErrorKind::Configuration,
        {.what = "unknown configuration key '" + key + "'",
         .where = where,
         .seen = key.empty() ? "a key without a name" : key,
         .expected = known.empty() ? "no keys: there is nothing to configure" : "one of: " + joined(known),
         .hint = suggestion(key, known)});
}

void two_names(const std::string& where, const char* name, const char* wct_name) {
    throw Error(ErrorKind::Configuration, {.what = "a configuration key is given under two names",
                                           .where = where,
                                           .seen = std::string(name) + " and " + wct_name,
                                           .expected = "one of the two: they have the same meaning"});
}

void missing_key(const std::string& where, const char* name, const char* text) {
    throw Error(ErrorKind::Configuration, {.what = std::string("missing configuration key '") + name + "'",
                                           .where = where,
                                           .seen = "not given",
                                           .expected = std::string(name) + ": " + text});
}

void require_object(const std::string& where, const nlohmann::json& seen) {
    if (!seen.is_object()) {
        wrong_type(where, seen, "object");
    }
}

} // namespace detail
} // namespace spng
