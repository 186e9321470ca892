#pragma once

#include <string>

namespace spng::recorder {

/// The name of a function as it was written, of its name in the object file; others are given back.
std::string demangled(const std::string& name);

/// The function's own name: without result, name spaces, template arguments and parameters.
/// "void at::native::copy<float, 4>(int)" -> "copy"
std::string short_kernel_name(const std::string& demangled);

} // namespace spng::recorder
