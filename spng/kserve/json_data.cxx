// SPDX-License-Identifier: Apache-2.0
#include "spng/kserve/json_data.h"

#include "spng/core/printable.h"
#include "spng/kserve/datatypes.h"
#include "spng/kserve/reject_message.h"

#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace spng::kserve {
namespace {

using nlohmann::json;

constexpr const char* binary_form = "send tensors in binary form (binary_data_size)";

/// Call `use` with a value of the C++ type; return false for types that JSON lists do not have here.
template <class Use>
bool with_type(const std::string& datatype, Use use) {
    if (datatype == "INT8") {
        use(std::int8_t{});
    } else if (datatype == "INT16") {
        use(std::int16_t{});
    } else if (datatype == "INT32") {
        use(std::int32_t{});
    } else if (datatype == "INT64") {
        use(std::int64_t{});
    } else if (datatype == "UINT8") {
        use(std::uint8_t{});
    } else if (datatype == "UINT16") {
        use(std::uint16_t{});
    } else if (datatype == "UINT32") {
        use(std::uint32_t{});
    } else if (datatype == "UINT64") {
        use(std::uint64_t{});
    } else if (datatype == "FP32") {
        use(float{});
    } else if (datatype == "FP64") {
        use(double{});
    } else {
        return false;
    }
    return true;
}

/// Return the value that is no number of JSON; nothing for other text.
std::optional<double> not_finite_value(const json& item) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (item.is_null() || item == "NaN") {
        return std::numeric_limits<double>::quiet_NaN();
    }
    return item == "Infinity"    ? std::optional(infinity)
           : item == "-Infinity" ? std::optional(-infinity)
                                 : std::nullopt;
}

/// Return the value of a type; nothing if the type does not have it.
template <class Value>
std::optional<Value> value_of(const json& item, NotFinite not_finite) {
    if constexpr (std::floating_point<Value>) {
        if (item.is_number()) {
            const auto value = item.get<double>();
            const bool fits = std::abs(value) <= std::numeric_limits<Value>::max();
            return fits ? std::optional(static_cast<Value>(value)) : std::nullopt;
        }
        const auto value = not_finite == NotFinite::accepted ? not_finite_value(item) : std::nullopt;
        return value ? std::optional(static_cast<Value>(*value)) : std::nullopt;
    } else if (item.is_number_unsigned()) {
        const auto value = item.get<std::uint64_t>();
        return std::in_range<Value>(value) ? std::optional(static_cast<Value>(value)) : std::nullopt;
    } else {
        const auto value = integer_of(item);
        return value && std::in_range<Value>(*value) ? std::optional(static_cast<Value>(*value))
                                                     : std::nullopt;
    }
}

// The depth of the lists is limited by the parser of the document.

std::size_t count_values(const json& list) {
    std::size_t count = 0;
    for (const json& entry : list) {
        count += entry.is_array() ? count_values(entry) : 1;
    }
    return count;
}

template <class Value>
void copy_values(const json& list, Value*& next, const Tensor& tensor, NotFinite not_finite,
                 const std::string& where) {
    for (const json& entry : list) {
        if (entry.is_array()) {
            copy_values(entry, next, tensor, not_finite, where);
            continue;
        }
        const std::optional<Value> value = value_of<Value>(entry, not_finite);
        if (!value) {
            reject(where, "a value does not have the type of its tensor", shortened(json_text(entry), 80),
                   "a number of type " + tensor.datatype, binary_form);
        }
        *next++ = *value;
    }
}

} // namespace

std::optional<std::int64_t> integer_of(const json& value) {
    const bool is_too_large =
        value.is_number_unsigned() && !std::in_range<std::int64_t>(value.get<std::uint64_t>());
    return value.is_number_integer() && !is_too_large ? std::optional(value.get<std::int64_t>())
                                                      : std::nullopt;
}

std::string with_quoted_values(std::string_view text) {
    std::string quoted;
    quoted.reserve(text.size());
    bool is_in_text = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (is_in_text && text[i] == '\\' && i + 1 < text.size()) {
            quoted += text[i++];
        } else if (text[i] == '"') {
            is_in_text = !is_in_text;
        } else if (!is_in_text) {
            for (const std::string_view word : {"NaN", "Infinity", "-Infinity"}) {
                if (text.substr(i).starts_with(word)) {
                    quoted += '"' + std::string(word) + '"';
                    i += word.size();
                    break;
                }
            }
        }
        if (i < text.size()) {
            quoted += text[i];
        }
    }
    return quoted;
}

void read_data(const json& list, Tensor& tensor, NotFinite not_finite, const std::string& where) {
    const std::size_t count = count_values(list);
    if (element_count(tensor.shape) != count) {
        reject(where, "the list of a tensor has another length than its shape",
               std::to_string(count) + " values", describe(tensor.datatype, tensor.shape), binary_form);
    }
    const bool is_known = with_type(tensor.datatype, [&](auto type) {
        using Value = decltype(type);
        auto values = std::make_shared<std::vector<Value>>(count);
        Value* next = values->data();
        copy_values(list, next, tensor, not_finite, where);
        tensor.data = values->data();
        tensor.bytes = count * sizeof(Value);
        tensor.owner = std::move(values);
    });
    if (!is_known) {
        reject(where, "a list of this type is not understood", tensor.datatype,
               "INT8 to INT64, UINT8 to UINT64, FP32, FP64", binary_form);
    }
}

json data_json(const Tensor& tensor, const std::string& where) {
    json list = json::array();
    with_type(tensor.datatype, [&](auto type) {
        using Value = decltype(type);
        const auto* bytes = static_cast<const char*>(tensor.data);
        const std::size_t count = tensor.bytes / sizeof(Value);
        auto& values = list.get_ref<json::array_t&>();
        values.reserve(count);
        for (std::size_t i = 0; i < count; ++i) {
            Value value;
            std::memcpy(&value, bytes + i * sizeof(Value), sizeof(Value));
            if constexpr (std::floating_point<Value>) {
                if (!std::isfinite(value)) {
                    reject(where, "a list of JSON cannot have this value",
                           tensor.name + ", value " + std::to_string(i) + ": " + std::to_string(value),
                           "finite numbers",
                           "ask for it in binary form: parameter binary_data_output = true");
                }
            }
            values.emplace_back(value);
        }
    });
    return list;
}

} // namespace spng::kserve
