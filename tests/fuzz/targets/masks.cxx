// SPDX-License-Identifier: Apache-2.0
// Masks of a request to a server: the text of the parameter. Accepted masks have the integers of the text.

#include "WireCellSpng/Pipeline.h"
#include "spng/pipeline/input_event.h"
#include "spng/serve/frame_parameters.h"
#include "tests/fuzz/mutate/bytes.h"
#include "tests/fuzz/targets/targets.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>
#include <utility>

namespace spng::fuzz {
namespace {

using nlohmann::json;

constexpr std::string_view words[] = {"{\"bad\":[[0,0,2]]}",
                                      "\"nan\":[",
                                      "[1,0,1]",
                                      "2147483647",
                                      "-2147483648",
                                      "4294967296",
                                      "4611686018427387904",
                                      "9223372036854775808",
                                      "18446744073709551615",
                                      "18446744073709551616",
                                      "-9223372036854775809",
                                      "1e9",
                                      "0.5",
                                      "-0",
                                      "NaN",
                                      "true",
                                      "null",
                                      "\"1\"",
                                      "[",
                                      "]",
                                      ","};

/// @throws Defect if the masks are not those of the text
void require_same(const ChannelMasks& masks, const std::string& text) {
    json names = json::object();
    for (const auto& [name, ranges] : masks) {
        json& list = names[name] = json::array();
        for (const ChannelRange& range : ranges) {
            list.push_back({range.channel, range.begin, range.end});
        }
    }
    if (names.dump() != json::parse(text).dump()) {
        throw Defect("masks that are not those of the request: " + names.dump());
    }
}

void run(const Input& input, Results& results) {
    const std::array<std::int16_t, 4> samples{1, 2, 3, 4};
    InputFrame frame{.samples = samples.data(), .channels = 2, .ticks = 2};
    try {
        set_parameters(frame, {{"masks", input.bytes}}, "request");
        require_same(frame.masks, input.bytes);
        event_of(std::move(frame), {"*", {0, 1}, 500});
        results.add("masks");
    } catch (const Error& error) {
        results.add(error);
    }
}

std::string mutate(const std::vector<std::string>& seeds, Random& random) {
    return mutate_bytes(random.pick(seeds), seeds, words, random);
}

} // namespace

Target masks_target() {
    return {"masks", "masks.json", &run, &mutate, &document_bytes_allowed, words};
}

} // namespace spng::fuzz
