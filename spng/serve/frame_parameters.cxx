// SPDX-License-Identifier: Apache-2.0
#include "spng/serve/frame_parameters.h"

#include "spng/core/printable.h"
#include "spng/io/json_file.h"
#include "spng/kserve/json_data.h"
#include "spng/kserve/known_parameters.h"
#include "spng/kserve/reject_message.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace spng {
namespace {

using kserve::Parameters;
using kserve::reject;
using nlohmann::json;

/// Write a value for an error.
std::string shown(const kserve::Parameter& value) {
    return shortened(std::visit([](const auto& content) { return json_text(json(content)); }, value), 80);
}

/// Return the number of a parameter; nothing if it is not given.
std::optional<double> number(const Parameters& parameters, const char* name, const std::string& where) {
    const auto found = parameters.find(name);
    if (found == parameters.end()) {
        return std::nullopt;
    }
    if (const auto* integer = std::get_if<std::int64_t>(&found->second)) {
        return static_cast<double>(*integer);
    }
    if (const auto* real = std::get_if<double>(&found->second)) {
        return *real;
    }
    if (const auto* text = std::get_if<std::string>(&found->second)) { // KServe's gRPC has no fractions
        const json value = parsed_json(*text);
        if (value.is_number()) {
            return value.get<double>();
        }
    }
    reject(where, "a parameter is not a number", name + (" = " + shown(found->second)), "a number");
}

int integer(const Parameters& parameters, const char* name, const std::string& where) {
    const double value = number(parameters, name, where).value_or(0);
    if (!(value >= std::numeric_limits<int>::min() && value <= std::numeric_limits<int>::max()) ||
        std::floor(value) != value) {
        reject(where, "a parameter is not an integer of 32 bits", name + (" = " + shown(parameters.at(name))),
               "an integer");
    }
    return static_cast<int>(value);
}

/// Return the sampling period; 0 if it is not given.
double tick_ns(const Parameters& parameters, const std::string& where) {
    const auto value = number(parameters, "tick_ns", where);
    if (value && !(*value > 0)) {
        reject(where, "the times of the frame are impossible", "tick_ns = " + shown(parameters.at("tick_ns")),
               "a sampling period above 0 [ns]");
    }
    return value.value_or(0);
}

/// Return one range of a mask; nothing for anything but three integers.
std::optional<ChannelRange> range_of(const json& numbers) {
    if (!numbers.is_array() || numbers.size() != 3) {
        return std::nullopt;
    }
    const auto channel = kserve::integer_of(numbers[0]), begin = kserve::integer_of(numbers[1]),
               end = kserve::integer_of(numbers[2]);
    const bool is_range = channel && begin && end && std::in_range<int>(*channel);
    return is_range ? std::optional(ChannelRange{static_cast<int>(*channel), *begin, *end}) : std::nullopt;
}

/// Return the masks of a JSON text; nothing for any other text.
std::optional<ChannelMasks> masks_of(const std::string& text) {
    const json names = parsed_json(text);
    if (!names.is_object()) {
        return std::nullopt;
    }
    ChannelMasks masks;
    for (const auto& [name, ranges] : names.items()) {
        std::vector<ChannelRange>& list = masks[name];
        if (!ranges.is_array()) {
            return std::nullopt;
        }
        for (const json& numbers : ranges) {
            const auto range = range_of(numbers);
            if (!range) {
                return std::nullopt;
            }
            list.push_back(*range);
        }
    }
    return masks;
}

ChannelMasks channel_masks(const Parameters& parameters, const std::string& where) {
    const auto found = parameters.find("masks");
    if (found == parameters.end()) {
        return {};
    }
    const auto* const text = std::get_if<std::string>(&found->second);
    auto masks = text == nullptr ? std::nullopt : masks_of(*text);
    if (!masks) {
        reject(where, "the parameter masks is not understood",
               text == nullptr || text->empty() ? shown(found->second) : shortened(*text, 80),
               R"({"bad": [[channel, begin tick, end tick]]}, integers of 32 bits)");
    }
    return std::move(*masks);
}

std::string masks_text(const ChannelMasks& masks) {
    json names = json::object();
    for (const auto& [name, ranges] : masks) {
        json& list = names[name] = json::array();
        for (const ChannelRange& range : ranges) {
            list.push_back({range.channel, range.begin, range.end});
        }
    }
    return json_text(names);
}

} // namespace

void set_parameters(InputFrame& frame, const Parameters& parameters, const std::string& where) {
    kserve::require_request_parameters(parameters, {"ident", "start_ns", "tick_ns", "first_tick", "masks"},
                                       "chain", where);
    frame.ident = integer(parameters, "ident", where);
    frame.first_tick = integer(parameters, "first_tick", where);
    frame.start_ns = number(parameters, "start_ns", where).value_or(0);
    frame.tick_ns = tick_ns(parameters, where);
    frame.masks = channel_masks(parameters, where);
}

Parameters parameters_of(const OutputFrame& frame) {
    Parameters parameters{{"ident", static_cast<std::int64_t>(frame.ident)},
                          {"masks", masks_text(frame.masks)},
                          {"notes", json_text(json(frame.notes))}};
    if (const auto found = frame.notes.find("warnings"); found != frame.notes.end()) {
        parameters["warnings"] = printable(found->second);
    }
    if (!frame.traces.empty()) {
        const OutputTraces& traces = frame.traces.front();
        parameters["start_ns"] = traces.start_ns;
        parameters["tick_ns"] = traces.tick_ns;
        parameters["first_tick"] = static_cast<std::int64_t>(traces.first_tick);
    }
    return parameters;
}

} // namespace spng
