// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace spng::recorder {

/// Demangle a C++ symbol. Other names are returned unchanged.
std::string demangle(const std::string& name);

/// Remove the return type, namespaces, template arguments and parameters from a demangled name:
/// "void at::native::copy<float, 4>(int)" -> "copy"
std::string short_kernel_name(const std::string& demangled);

} // namespace spng::recorder
