// SPDX-License-Identifier: Apache-2.0
#include "spng/kserve/datatypes.h"

#include "spng/kserve/reject_message.h"

#include <array>
#include <limits>
#include <utility>

namespace spng::kserve {
namespace {

constexpr std::array<std::pair<const char*, std::size_t>, 13> sizes{{{"BOOL", 1},
                                                                     {"UINT8", 1},
                                                                     {"UINT16", 2},
                                                                     {"UINT32", 4},
                                                                     {"UINT64", 8},
                                                                     {"INT8", 1},
                                                                     {"INT16", 2},
                                                                     {"INT32", 4},
                                                                     {"INT64", 8},
                                                                     {"FP16", 2},
                                                                     {"BF16", 2},
                                                                     {"FP32", 4},
                                                                     {"FP64", 8}}};

} // namespace

std::optional<std::size_t> element_bytes(const std::string& datatype) {
    for (const auto& [name, bytes] : sizes) {
        if (datatype == name) {
            return bytes;
        }
    }
    return std::nullopt;
}

std::optional<std::size_t> element_count(const std::vector<std::int64_t>& shape) {
    std::size_t count = 1;
    for (const std::int64_t length : shape) {
        if (length < 0 || (length > 0 && count > std::numeric_limits<std::size_t>::max() / 16 /
                                                     static_cast<std::size_t>(length))) {
            return std::nullopt;
        }
        count *= static_cast<std::size_t>(length);
    }
    return count;
}

std::string describe(const std::string& datatype, const std::vector<std::int64_t>& shape) {
    std::string text = datatype + " (";
    for (std::size_t i = 0; i < shape.size(); ++i) {
        text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
    }
    return text + ")";
}

void require_number_type(const std::string& datatype, const std::string& where) {
    if (element_bytes(datatype)) {
        return;
    }
    std::string names;
    for (const auto& [name, bytes] : sizes) {
        names += (names.empty() ? "" : ", ") + std::string(name);
    }
    reject(where, "tensors of this type are not accepted", datatype.empty() ? "no type" : datatype, names);
}

void require_bytes_of_shape(const Tensor& tensor, const std::string& where) {
    require_number_type(tensor.datatype, where);
    const auto size = element_bytes(tensor.datatype);
    const auto count = element_count(tensor.shape);
    if (!count || *size * *count != tensor.bytes) {
        reject(where, "a tensor does not have the bytes of its shape",
               describe(tensor.datatype, tensor.shape) + " in " + std::to_string(tensor.bytes) + " bytes",
               count ? std::to_string(*size * *count) + " bytes" : "lengths of at least 0",
               "tensors are little-endian, in C order, without padding");
    }
}

} // namespace spng::kserve
