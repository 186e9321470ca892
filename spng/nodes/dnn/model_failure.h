#pragma once
// What goes wrong inside a network, whatever it was saved as, in words that a user can act on.

#include <ATen/core/Tensor.h>

#include <exception>
#include <filesystem>
#include <string>

namespace spng {

/// The line of a LibTorch failure that says why: those before it quote the network's source, those after it
/// are a C++ stack.
std::string failure_reason(const std::exception& failure);

/// Networks hand on exceptions of their operators as text. Throws ModelOutOfMemory where the text says so,
/// and Error(Model) for the rest.
/// @param file   the model's
/// @param input  that it rejected
[[noreturn]] void throw_forward_failure(const std::exception& failure, const std::string& file,
                                        const at::Tensor& input);

/// Throws Error(Model): the network ran and gave something else than one tensor.
[[noreturn]] void throw_wrong_output(const std::string& seen, const std::string& file);

/// Size of a model file. Throws Error(Model) when it cannot be read.
/// @param expected  "a TorchScript file", ...
std::uintmax_t model_file_size(const std::filesystem::path& file, const std::string& expected);

} // namespace spng
