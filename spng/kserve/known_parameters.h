// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parameters that a request may have. An unknown one is an error: what is not done must not look done.

#include "spng/kserve/protocol.h"

#include <string>
#include <vector>

namespace spng::kserve {

/// Check the names of parameters.
/// @param owner  "chain", "input", ...
/// @throws Error(Input) for a name that is not known
void require_known_parameters(const Parameters& parameters, const std::vector<std::string>& known,
                              const std::string& owner, const std::string& where);

/// The same for an input and for an output of a request.
void require_input_parameters(const Parameters& parameters, const std::string& where);
void require_output_parameters(const Parameters& parameters, const std::string& where);

/// The same for a request.
/// @param own    parameters of the model
/// @param owner  of these
void require_request_parameters(const Parameters& parameters, std::vector<std::string> own,
                                const std::string& owner, const std::string& where);

/// Return a parameter that is true or false.
/// @throws Error(Input) for another value
bool flag(const Parameters& parameters, const char* name, bool otherwise, const std::string& where);

} // namespace spng::kserve
