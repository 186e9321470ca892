// SPDX-License-Identifier: Apache-2.0
#include "spng/kserve/json_members.h"

#include "spng/core/printable.h"
#include "spng/io/json_file.h"
#include "spng/kserve/json_codec.h"
#include "spng/kserve/reject_message.h"

namespace spng::kserve {

using nlohmann::json;

std::string shown(const json& value) {
    return shortened(json_text(value), max_shown);
}

json parse_object(std::string_view text, const std::string& where, NotFinite not_finite) {
    if (text.size() > max_json_bytes) {
        reject_message(where, std::to_string(text.size()) + " bytes of JSON",
                       "at most " + std::to_string(max_json_bytes) + " bytes; larger tensors in binary form");
    }
    const std::string owned(text);
    json value = parsed_json(owned);
    if (value.is_discarded() && not_finite == NotFinite::accepted) {
        value = parsed_json(with_quoted_values(owned));
    }
    if (!value.is_object()) {
        reject_message(where, owned.empty() ? "an empty body" : shortened(owned, max_shown),
                       "a JSON object, which has no NaN: binary tensors have it");
    }
    return value;
}

std::string text_at(const json& object, const char* key, const std::string& where, bool is_required) {
    const auto found = object.find(key);
    const bool is_absent =
        found == object.end() || found->is_null(); // KServe's own server sends null for "none"
    if (is_absent && !is_required) {
        return {};
    }
    if (found == object.end() || !found->is_string()) {
        reject_message(where,
                       found == object.end() ? "no key " + std::string(key) : key + (" = " + shown(*found)),
                       std::string(key) + " as text");
    }
    return found->get<std::string>();
}

const json& list_at(const json& object, const char* key, const std::string& where, bool is_required) {
    static const json none = json::array();
    const auto found = object.find(key);
    if (found == object.end() && !is_required) {
        return none;
    }
    if (found == object.end() || !found->is_array()) {
        reject_message(where,
                       found == object.end() ? "no key " + std::string(key) : key + (" = " + shown(*found)),
                       "a list " + std::string(key));
    }
    for (const json& entry : *found) {
        if (!entry.is_object()) {
            reject_message(where + ", " + key, shown(entry), "a JSON object");
        }
    }
    return *found;
}

Parameters parameters_of(const json& object, const std::string& where) {
    Parameters parameters;
    const auto found = object.find("parameters");
    if (found == object.end() || found->is_null()) {
        return parameters;
    }
    if (!found->is_object()) {
        reject_message(where, "parameters = " + shown(*found), "a JSON object");
    }
    for (const auto& [name, value] : found->items()) {
        switch (value.type()) {
        case json::value_t::boolean:
            parameters[name] = value.get<bool>();
            break;
        case json::value_t::number_unsigned:
            if (value.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) {
                parameters[name] = value.get<double>();
                break;
            }
            [[fallthrough]];
        case json::value_t::number_integer:
            parameters[name] = value.get<std::int64_t>();
            break;
        case json::value_t::number_float:
            parameters[name] = value.get<double>();
            break;
        case json::value_t::string:
            parameters[name] = value.get<std::string>();
            break;
        case json::value_t::object:
        case json::value_t::array:
            parameters[name] = json_text(value); // over gRPC such values are JSON text
            break;
        default:
            reject_message(where, "parameter " + name + " = " + shown(value), "a value");
        }
    }
    return parameters;
}

std::vector<std::int64_t> shape_of(const json& tensor, const std::string& where) {
    const auto found = tensor.find("shape");
    bool is_shape = found != tensor.end() && found->is_array() && found->size() <= 64;
    std::vector<std::int64_t> shape;
    if (is_shape) {
        for (const json& length : *found) {
            const auto value = integer_of(length);
            is_shape = is_shape && value;
            shape.push_back(value.value_or(0));
        }
    }
    if (!is_shape) {
        reject_message(where, found == tensor.end() ? "no key shape" : "shape = " + shown(*found),
                       "shape as a list of integers");
    }
    return shape;
}

} // namespace spng::kserve
