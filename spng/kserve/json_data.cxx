// SPDX-License-Identifier: Apache-2.0
#include "spng/kserve/json_data.h"

#include "spng/core/error.h"
#include "spng/core/printable.h"
#include "spng/kserve/datatypes.h"

#include <concepts>
#include <cstring>
#include <utility>
#include <vector>

namespace spng::kserve {
namespace {

using nlohmann::json;

[[noreturn]] void reject(const std::string& where, std::string what, std::string seen, std::string expected) {
    throw Error(ErrorKind::Input, {.what = std::move(what),
                                   .where = where,
                                   .seen = std::move(seen),
                                   .expected = std::move(expected),
                                   .hint = "send tensors in binary form (binary_data_size)"});
}

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

template <class Value>
bool has_value(const json& item) {
    if constexpr (std::floating_point<Value>) {
        return item.is_number();
    } else if (item.is_number_unsigned()) {
        return std::in_range<Value>(item.get<std::uint64_t>());
    } else {
        return item.is_number_integer() && std::in_range<Value>(item.get<std::int64_t>());
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
void copy_values(const json& list, Value*& next, const Tensor& tensor, const std::string& where) {
    for (const json& entry : list) {
        if (entry.is_array()) {
            copy_values(entry, next, tensor, where);
            continue;
        }
        if (!has_value<Value>(entry)) {
            reject(where, "a value does not have the type of its tensor",
                   shortened(entry.dump(-1, ' ', false, json::error_handler_t::replace), 80),
                   "a number of type " + tensor.datatype);
        }
        *next++ = entry.get<Value>();
    }
}

} // namespace

void read_data(const json& list, Tensor& tensor, const std::string& where) {
    const std::size_t count = count_values(list);
    if (element_count(tensor.shape) != count) {
        reject(where, "the list of a tensor has another length than its shape",
               std::to_string(count) + " values", describe(tensor.datatype, tensor.shape));
    }
    const bool is_known = with_type(tensor.datatype, [&](auto type) {
        using Value = decltype(type);
        auto values = std::make_shared<std::vector<Value>>(count);
        Value* next = values->data();
        copy_values(list, next, tensor, where);
        tensor.data = values->data();
        tensor.bytes = count * sizeof(Value);
        tensor.owner = std::move(values);
    });
    if (!is_known) {
        reject(where, "a list of this type is not understood", tensor.datatype,
               "INT8 to INT64, UINT8 to UINT64, FP32, FP64");
    }
}

json data_json(const Tensor& tensor) {
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
            values.emplace_back(value);
        }
    });
    return list;
}

} // namespace spng::kserve
