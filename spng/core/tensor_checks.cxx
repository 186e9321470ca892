// SPDX-License-Identifier: Apache-2.0
#include "spng/core/tensor_checks.h"

#include "spng/core/error.h"

namespace spng {

namespace {

[[noreturn]] void reject(const char* operation, const char* name, const std::string& seen,
                         const std::string& expected) {
    throw Error(
        ErrorKind::Internal,
        {.what = std::string(operation) + " cannot take this " + name, .seen = seen, .expected = expected});
}

} // namespace

std::string describe_tensor(const at::Tensor& tensor) {
    if (!tensor.defined()) {
        return "undefined";
    }
    std::string text = c10::toString(tensor.scalar_type());
    switch (tensor.scalar_type()) {
    case at::kBool:
        text = "bool";
        break;
    case at::kShort:
        text = "int16";
        break;
    case at::kInt:
        text = "int32";
        break;
    case at::kLong:
        text = "int64";
        break;
    case at::kFloat:
        text = "float32";
        break;
    case at::kDouble:
        text = "float64";
        break;
    default:
        break;
    }
    text += " (";
    for (std::int64_t axis = 0; axis < tensor.dim(); ++axis) {
        text += (axis ? ", " : "") + std::to_string(tensor.size(axis));
    }
    return text + ") " + tensor.device().str();
}

void require_tensor(bool fits, const char* operation, const char* name, const at::Tensor& seen,
                    const std::string& expected) {
    if (!fits) {
        reject(operation, name, describe_tensor(seen), expected);
    }
}

void require_argument(bool fits, const char* operation, const char* name, std::int64_t seen,
                      const std::string& expected) {
    if (!fits) {
        reject(operation, name, std::to_string(seen), expected);
    }
}

void require_waveforms(const char* operation, const at::Tensor& waveforms,
                       const std::optional<at::Tensor>& good, std::int64_t axes) {
    require_tensor((is_real(waveforms) || (waveforms.defined() && waveforms.scalar_type() == at::kShort)) &&
                       waveforms.dim() >= axes,
                   operation, "waveforms", waveforms, "int16, float32 or float64 (..., channel, tick)");
    require_tensor(!good ||
                       (is_mask(*good) && good->sizes() == waveforms.sizes().slice(0, waveforms.dim() - 1)),
                   operation, "mask of good channels", good.value_or(at::Tensor()),
                   "bool, one for each row of " + describe_tensor(waveforms));
}

bool is_real(const at::Tensor& tensor) {
    return tensor.defined() && (tensor.scalar_type() == at::kFloat || tensor.scalar_type() == at::kDouble);
}

bool is_mask(const at::Tensor& tensor) {
    return tensor.defined() && tensor.scalar_type() == at::kBool;
}

bool same_rows(const at::Tensor& left, const at::Tensor& right) {
    return left.dim() >= 1 && left.dim() == right.dim() &&
           left.sizes().slice(0, left.dim() - 1) == right.sizes().slice(0, right.dim() - 1);
}

} // namespace spng
