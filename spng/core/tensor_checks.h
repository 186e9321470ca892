// SPDX-License-Identifier: Apache-2.0
#pragma once
// Argument checks for functions on tensors: a wrong shape must give one readable error, not a crash in a
// kernel.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>

namespace spng {

/// Describe a tensor: "float32 (2, 800, 6000) cpu"; "undefined" for an undefined tensor.
std::string describe_tensor(const at::Tensor& tensor);

/// Reject a tensor argument that the operation cannot take.
/// @param operation  name of the public function, such as "pack_ticks"
/// @param name       name of its argument
/// @param expected   the contract in words, such as "bool (..., channel, tick)"
/// @throws Error(Internal) unless `fits`
void require_tensor(bool fits, const char* operation, const char* name, const at::Tensor& seen,
                    const std::string& expected);

/// The same for an integer argument.
void require_argument(bool fits, const char* operation, const char* name, std::int64_t seen,
                      const std::string& expected);

/// Reject waveforms that are not (..., channel, tick) int16, float32 or float64, and a mask of good channels that is not
/// one bool for each of their rows.
/// @param axes  that the waveforms have at least
/// @throws Error(Internal)
void require_waveforms(const char* operation, const at::Tensor& waveforms,
                       const std::optional<at::Tensor>& good = {}, std::int64_t axes = 2);

/// Return true for a defined tensor of float32 or float64.
bool is_real(const at::Tensor& tensor);

/// Return true for a defined tensor of bool.
bool is_mask(const at::Tensor& tensor);

/// Return true if both have the same count of axes (at least one) and equal sizes on all axes but the last.
bool same_rows(const at::Tensor& left, const at::Tensor& right);

} // namespace spng
