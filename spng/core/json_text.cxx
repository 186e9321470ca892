// SPDX-License-Identifier: Apache-2.0
#include "spng/core/json_text.h"

#include <nlohmann/json.hpp>

namespace spng {

std::string json_text(const nlohmann::json& value, int indent) {
    return value.dump(indent, ' ', /*ensure_ascii=*/false, nlohmann::json::error_handler_t::replace);
}

} // namespace spng
