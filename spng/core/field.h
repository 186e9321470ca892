// SPDX-License-Identifier: Apache-2.0
#pragma once
// Field lists: a configuration struct declares the name, unit, range and meaning of each member once:
//
//     struct ThresholdConfig {
//         double threshold_rms_factor = 3.0;
//         static constexpr auto fields() {
//             return std::make_tuple(
//                 field(&ThresholdConfig::threshold_rms_factor, "threshold_rms_factor", "1", between(0, 100),
//                       "threshold in units of the channel's noise RMS"));
//         }
//     };
//
// `field(...).or_wct("rms_factor")` also accepts the key `rms_factor` of the Wire-Cell Toolkit (WCT), for a key with
// the same meaning. Parsing, range checks, the rejection of unknown keys, `--describe` and the JSON schema all use that
// declaration. The initial value of a member is its default. A member may be a bool, an integer, a double, a
// string, another such struct, or a vector of any of these.

#include "spng/core/error.h"
#include "spng/core/nearest.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <limits>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace spng {

/// The valid values: an interval for numbers, a choice or "not empty" for strings. The range of a vector
/// applies to each element.
struct Range {
    double low = -std::numeric_limits<double>::infinity();
    double high = std::numeric_limits<double>::infinity();
    bool low_is_open = false;
    bool required = false;  ///< the key must be given
    bool not_empty = false; ///< a string or vector must not be empty
    std::array<const char*, 8> choices{};

    /// Return the interval or the choices; an empty text if there is neither.
    std::string text() const;
    bool admits(double value) const {
        return low_is_open ? value > low && value <= high : value >= low && value <= high;
    }
    bool admits(const std::string& value) const;
};

constexpr Range any() {
    return {};
}
constexpr Range not_empty() {
    return {.not_empty = true};
}
constexpr Range between(double low, double high) {
    return {.low = low, .high = high};
}
constexpr Range at_least(double low) {
    return {.low = low};
}
constexpr Range above(double low) {
    return {.low = low, .low_is_open = true};
}
/// The key must be given, within the range, and must not be empty.
constexpr Range required(Range range = any()) {
    range.required = true;
    range.not_empty = true;
    return range;
}
template <class... Names>
constexpr Range one_of(Names... names) {
    Range range;
    std::size_t i = 0;
    ((range.choices[i++] = names), ...);
    return range;
}

template <class Config, class Member>
struct Field {
    Member Config::*member;
    const char* name;
    /// "ns", "MHz", "1", ...: base units of the Wire-Cell Toolkit for quantities with a dimension; "" for
    /// text
    const char* unit;
    Range range;
    const char* text;
    /// Name of a key with the same meaning in configurations of the Wire-Cell Toolkit (WCT); empty: none
    const char* wct_name = "";

    /// Return the field with a key of WCT as its second name.
    constexpr Field or_wct(const char* other_name) const {
        Field field = *this;
        field.wct_name = other_name;
        return field;
    }
};

template <class Config, class Member>
constexpr Field<Config, Member> field(Member Config::*member, const char* name, const char* unit, Range range,
                                      const char* text) {
    return {member, name, unit, range, text};
}

/// One row of `--describe`.
struct FieldDescription {
    std::string name, type, unit;
    Range range;
    std::string text;
    nlohmann::json default_value;
    std::vector<FieldDescription> members; ///< of a nested struct
    std::string wct_name;                  ///< second name of the key; empty: none
};

namespace detail {

template <class T>
struct is_vector : std::false_type {};
template <class T>
struct is_vector<std::vector<T>> : std::true_type {
    using element = T;
};

template <class T>
concept HasFields = requires { T::fields(); };

[[noreturn]] void wrong_type(const std::string& where, const nlohmann::json& seen,
                             const std::string& expected);
[[noreturn]] void out_of_range(const std::string& where, const nlohmann::json& seen, const Range& range,
                               const char* unit);
[[noreturn]] void unknown_key(const std::string& where, const std::string& key,
                              const std::vector<std::string>& known);
[[noreturn]] void two_names(const std::string& where, const char* name, const char* wct_name);
[[noreturn]] void missing_key(const std::string& where, const char* name, const char* text);
void require_object(const std::string& where, const nlohmann::json& seen);

/// Return the part of a range that an integer type represents exactly. A double has each integer up to 9e15.
template <std::integral T>
Range with_limits_of(Range range) {
    constexpr double exact = 9.0e15;
    range.low = std::max({range.low, -exact, static_cast<double>(std::numeric_limits<T>::lowest())});
    range.high = std::min({range.high, exact, static_cast<double>(std::numeric_limits<T>::max())});
    return range;
}

template <class T>
std::string type_name() {
    if constexpr (std::same_as<T, bool>) {
        return "boolean";
    } else if constexpr (std::integral<T>) {
        return "integer";
    } else if constexpr (std::floating_point<T>) {
        return "number";
    } else if constexpr (std::same_as<T, std::string>) {
        return "string";
    } else if constexpr (is_vector<T>::value) {
        return "array of " + type_name<typename is_vector<T>::element>();
    } else {
        static_assert(
            HasFields<T>,
            "a configuration member is a scalar, a string, a described struct or a vector of these");
        return "object";
    }
}

} // namespace detail

template <detail::HasFields Config>
Config parse(const nlohmann::json& data, const std::string& where);

namespace detail {

template <class T>
void assign(T& target, const nlohmann::json& seen, const Range& range, const char* unit,
            const std::string& where) {
    if constexpr (std::same_as<T, bool>) {
        if (!seen.is_boolean()) {
            wrong_type(where, seen, "boolean");
        }
        target = seen.get<bool>();
    } else if constexpr (std::integral<T>) {
        // Jsonnet has one numeric type: 6000 may arrive as 6000.0.
        if (!seen.is_number() || std::floor(seen.get<double>()) != seen.get<double>()) {
            wrong_type(where, seen, "integer");
        }
        const double value = seen.get<double>();
        if (!range.admits(value)) {
            out_of_range(where, seen, range, unit);
        }
        if (const Range representable = with_limits_of<T>(range); !representable.admits(value)) {
            out_of_range(where, seen, representable, unit);
        }
        target = static_cast<T>(value);
    } else if constexpr (std::floating_point<T>) {
        if (!seen.is_number()) {
            wrong_type(where, seen, "number");
        }
        target = seen.get<T>();
        if (!std::isfinite(target) || !range.admits(target)) {
            out_of_range(where, seen, range, unit);
        }
    } else if constexpr (std::same_as<T, std::string>) {
        if (!seen.is_string()) {
            wrong_type(where, seen, "string");
        }
        target = seen.get<std::string>();
        if (!range.admits(target)) {
            out_of_range(where, seen, range, unit);
        }
    } else if constexpr (is_vector<T>::value) {
        if (!seen.is_array()) {
            wrong_type(where, seen, type_name<T>());
        }
        if (range.not_empty && seen.empty()) {
            out_of_range(where, seen, range, unit);
        }
        target.clear();
        for (std::size_t i = 0; i < seen.size(); ++i) {
            typename is_vector<T>::element element{};
            assign(element, seen[i], range, unit, where + "[" + std::to_string(i) + "]");
            target.push_back(std::move(element));
        }
    } else {
        target = parse<T>(seen, where);
    }
}

template <class T>
nlohmann::json as_json(const T& value) {
    if constexpr (HasFields<T>) {
        nlohmann::json object = nlohmann::json::object();
        std::apply([&](const auto&... f) { ((object[f.name] = as_json(value.*(f.member))), ...); },
                   T::fields());
        return object;
    } else if constexpr (is_vector<T>::value) {
        nlohmann::json array = nlohmann::json::array();
        for (const auto& element : value) {
            array.push_back(as_json(element));
        }
        return array;
    } else {
        return value;
    }
}

} // namespace detail

/// Fill a Config from a JSON object. Members without a key keep their default.
/// @param where  "SPNGDecon:induction" or "…, key views[0]": the location named in errors
/// @throws Error(Configuration) for unknown keys (names the nearest known one), wrong types and values out of
/// range
template <detail::HasFields Config>
Config parse(const nlohmann::json& data, const std::string& where) {
    detail::require_object(where, data);
    std::vector<std::string> known, wct_names;
    std::apply([&](const auto&... f) { (known.emplace_back(f.name), ...); }, Config::fields());
    std::apply([&](const auto&... f) { (wct_names.emplace_back(f.wct_name), ...); }, Config::fields());
    for (const auto& [key, value] : data.items()) {
        const auto is_in = [&key = key](const std::vector<std::string>& names) {
            return std::find(names.begin(), names.end(), key) != names.end();
        };
        if (!is_in(known) && (key.empty() || !is_in(wct_names))) {
            detail::unknown_key(where, key, known);
        }
    }
    Config config;
    const auto one = [&](const auto& f) {
        auto found = data.find(f.name);
        if (const auto other = data.find(f.wct_name); *f.wct_name != '\0' && other != data.end()) {
            if (found != data.end()) {
                detail::two_names(where, f.name, f.wct_name);
            }
            found = other;
        }
        if (found == data.end()) {
            if (f.range.required) {
                detail::missing_key(where, f.name, f.text);
            }
            return;
        }
        const std::string location =
            where + (where.find(", key ") == std::string::npos ? ", key " : ".") + found.key();
        detail::assign(config.*(f.member), *found, f.range, f.unit, location);
    };
    std::apply([&](const auto&... f) { (one(f), ...); }, Config::fields());
    return config;
}

/// Return all members as JSON.
template <detail::HasFields Config>
nlohmann::json to_json(const Config& config) {
    return detail::as_json(config);
}

/// Describe the members of a Config, in the order of its field list.
template <detail::HasFields Config>
std::vector<FieldDescription> describe_fields() {
    std::vector<FieldDescription> rows;
    const Config defaults{};
    const auto one = [&](const auto& f) {
        using Member = std::remove_cvref_t<decltype(defaults.*(f.member))>;
        FieldDescription row{f.name, detail::type_name<Member>(),           f.unit, f.range,
                             f.text, detail::as_json(defaults.*(f.member)), {},     f.wct_name};
        if constexpr (detail::HasFields<Member>) {
            row.members = describe_fields<Member>();
        } else if constexpr (detail::is_vector<Member>::value) {
            if constexpr (detail::HasFields<typename detail::is_vector<Member>::element>) {
                row.members = describe_fields<typename detail::is_vector<Member>::element>();
            }
        }
        rows.push_back(std::move(row));
    };
    std::apply([&](const auto&... f) { (one(f), ...); }, Config::fields());
    return rows;
}

/// Configuration of a component without keys.
struct NoConfig {
    static constexpr auto fields() { return std::make_tuple(); }
};

} // namespace spng
