// SPDX-License-Identifier: Apache-2.0
#include "spng/kserve/known_parameters.h"

#include "spng/core/nearest.h"
#include "spng/kserve/reject_message.h"

#include <algorithm>
#include <array>

namespace spng::kserve {
void require_known_parameters(const Parameters& parameters, const std::vector<std::string>& known,
                              const std::string& owner, const std::string& where) {
    for (const auto& [name, value] : parameters) {
        if (std::find(known.begin(), known.end(), name) == known.end()) {
            reject(where, "the " + owner + " has no such parameter", "parameter " + name, joined(known),
                   name.starts_with("shared_memory") ? "send and receive tensors in the messages"
                                                     : suggestion(name, known, "docs/server.md has a list"));
        }
    }
}

void require_input_parameters(const Parameters& parameters, const std::string& where) {
    require_known_parameters(parameters, {"binary_data_size", "content_type"}, "input", where);
}

void require_output_parameters(const Parameters& parameters, const std::string& where) {
    require_known_parameters(parameters, {"binary_data"}, "output", where);
    flag(parameters, "binary_data", false, where);
}

void require_request_parameters(const Parameters& parameters, std::vector<std::string> own,
                                const std::string& owner, const std::string& where) {
    // Of the protocol and of clients. They do not concern the models.
    constexpr std::array others{"binary_data_output",
                                "sequence_id",
                                "sequence_start",
                                "sequence_end",
                                "priority",
                                "timeout",
                                "headers",
                                "content_type",
                                "triton_enable_empty_final_response"};
    own.insert(own.end(), others.begin(), others.end());
    require_known_parameters(parameters, own, owner, where);
    flag(parameters, "binary_data_output", false, where);
}

bool flag(const Parameters& parameters, const char* name, bool otherwise, const std::string& where) {
    const auto found = parameters.find(name);
    if (found == parameters.end()) {
        return otherwise;
    }
    if (const bool* const value = std::get_if<bool>(&found->second)) {
        return *value;
    }
    reject(where, "a parameter is not true or false", std::string("parameter ") + name, "true or false");
}

} // namespace spng::kserve
