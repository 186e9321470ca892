// SPDX-License-Identifier: Apache-2.0
#pragma once
// Mutations of .npy arrays and of archives of them.

#include "tests/fuzz/driver/random.h"

#include <string>
#include <vector>

namespace spng::fuzz {

/// Change the type, order or shape in the header of a .npy file, or values of its items. Other bytes are changed as
/// bytes.
std::string mutate_array(const std::string& npy, Random& random);

/// Change arrays, names and order of the members of a seed, and pack them in any container.
std::string mutate_archive(const std::vector<std::string>& seeds, Random& random);

} // namespace spng::fuzz
