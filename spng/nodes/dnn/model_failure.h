// SPDX-License-Identifier: Apache-2.0
#pragma once
// Errors for failures inside a network.

#include <ATen/core/Tensor.h>

#include <exception>
#include <filesystem>
#include <string>

namespace spng {

/// Return the line of a LibTorch failure that gives the reason. The lines before it quote the source of the
/// network, the lines after it are a C++ stack.
std::string failure_reason(const std::exception& failure);

/// Throw ModelOutOfMemory if the text of the failure reports it, otherwise Error(Model). Networks pass
/// exceptions of their operators on as text.
/// @param file   model file
/// @param input  rejected input
[[noreturn]] void throw_forward_failure(const std::exception& failure, const std::string& file,
                                        const at::Tensor& input);

/// Throw Error(Model) for an output that is not one tensor.
[[noreturn]] void throw_wrong_output(const std::string& seen, const std::string& file);

/// Return the size of a model file [bytes].
/// @param expected  description of the file for the error message, such as "a TorchScript file"
/// @throws Error(Model) if the file cannot be read
std::uintmax_t model_file_size(const std::filesystem::path& file, const std::string& expected);

} // namespace spng
