// SPDX-License-Identifier: Apache-2.0
#pragma once
// Errors for failures inside a network.

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <exception>
#include <filesystem>
#include <string>

namespace spng {

/// Return the line of a LibTorch failure that gives the reason. The lines before it quote the source of the
/// network, the lines after it are a C++ stack.
std::string failure_reason(const std::exception& failure);

/// Throw Error(Device) if the text names a failure of CUDA or one of its libraries, for which neither the model file
/// nor the input is the reason. Return for the CPU and for other failures.
/// @param file  model file
void throw_if_device_failed(const std::string& seen, const std::string& file, c10::Device device);

/// Throw OutOfMemory if the text of a failure to load a model reports that, Error(Device) as throw_if_device_failed().
/// @param bytes  size of the file
void throw_if_load_lacks_device(const std::exception& failure, const std::string& file, std::uintmax_t bytes,
                                c10::Device device);

/// Throw ModelOutOfMemory if the text of the failure reports it, Error(Device) if the device or a library of CUDA
/// failed, otherwise Error(Model). Networks pass exceptions of their operators on as text.
/// @param file   model file
/// @param input  rejected input
[[noreturn]] void throw_forward_failure(const std::exception& failure, const std::string& file,
                                        const at::Tensor& input);

/// Throw Error(Model) for an output that is not one tensor.
[[noreturn]] void throw_wrong_output(const std::string& seen, const std::string& file);

/// Throw Error(Model) for a model file that does not load. The error names the kind of a foreign_file().
/// @param where    the file, or a member of it
/// @param or_else  advice besides comparing it with the original
[[noreturn]] void throw_load_failure(const std::filesystem::path& file, const std::string& where,
                                     const std::string& seen, const std::string& expected,
                                     const std::string& or_else = "and copy it again");

/// Return the size of a model file [bytes].
/// @param expected  description of the file for the error message, such as "a TorchScript file"
/// @throws Error(Model) if the file cannot be read
std::uintmax_t model_file_size(const std::filesystem::path& file, const std::string& expected);

} // namespace spng
