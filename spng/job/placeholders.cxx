// SPDX-License-Identifier: Apache-2.0
#include "spng/job/placeholders.h"

namespace spng {

std::string with_values(const std::string& text, const PlaceholderValues& values) {
    std::string result;
    std::size_t done = 0;
    for (auto begin = text.find('{'); begin != std::string::npos; begin = text.find('{', begin + 1)) {
        const auto end = text.find('}', begin);
        if (end == std::string::npos) {
            break;
        }
        if (const auto found = values.find(text.substr(begin + 1, end - begin - 1)); found != values.end()) {
            result += text.substr(done, begin - done) + found->second;
            done = end + 1;
            begin = end;
        }
    }
    return result + text.substr(done);
}

nlohmann::json with_values(nlohmann::json data, const PlaceholderValues& values) {
    if (data.is_string()) {
        return with_values(data.get<std::string>(), values);
    }
    if (data.is_structured()) {
        for (auto& item : data) {
            item = with_values(std::move(item), values);
        }
    }
    return data;
}

} // namespace spng
