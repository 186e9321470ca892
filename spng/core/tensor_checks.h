#pragma once
// Checks at the door of every pure function on tensors: a wrong shape must be one readable block, not a crash
// in a kernel.

#include <ATen/core/Tensor.h>

#include <string>

namespace spng {

/// "float32 (2, 800, 6000) cpu"; "undefined" for a tensor that is not defined.
std::string describe_tensor(const at::Tensor& tensor);

/// Throws Error(Internal) unless `fits`: a step of the chain handed over a tensor that this operation cannot
/// take.
/// @param operation  name of the public function, such as "pack_ticks"
/// @param name       name of its argument
/// @param expected   the contract in words, such as "bool (..., channel, tick)"
void require_tensor(bool fits, const char* operation, const char* name, const at::Tensor& seen,
                    const std::string& expected);

/// The same for a number.
void require_argument(bool fits, const char* operation, const char* name, std::int64_t seen,
                      const std::string& expected);

/// Defined and float32 or float64.
bool is_real(const at::Tensor& tensor);

/// Defined and bool.
bool is_mask(const at::Tensor& tensor);

/// Equal sizes on all axes but the last, and the same number of axes (at least one).
bool same_rows(const at::Tensor& left, const at::Tensor& right);

} // namespace spng
