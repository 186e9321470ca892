// SPDX-License-Identifier: Apache-2.0
// Masks of a request to a server: the parameter as text, as gRPC has it, and as JSON in a body of HTTP. Accepted masks have
// the integers of the text, and both doors accept the same ones.

#include "WireCellSpng/Pipeline.h"
#include "spng/kserve/json_codec.h"
#include "spng/pipeline/input_event.h"
#include "spng/serve/frame_parameters.h"
#include "spng/serve/frame_tensors.h"
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

/// Return whether a frame has the masks of a request.
/// @param read  the request
/// @throws Defect if they are not those of the text
template <class Read>
bool accepts(const Read& read, const std::string& masks, Results& results) {
    try {
        InputFrame frame = read();
        require_same(frame.masks, masks);
        event_of(std::move(frame), {"*", {0, 1}, 500});
        results.add("masks");
        return true;
    } catch (const Error& error) {
        results.add(error);
        return false;
    }
}

void run(const Input& input, Results& results) {
    const std::string& masks = input.bytes;
    const std::array<std::int16_t, 4> samples{1, 2, 3, 4};
    const auto over_grpc = [&] {
        InputFrame frame;
        frame.samples = samples.data();
        frame.channels = frame.ticks = 2;
        set_parameters(frame, {{"masks", masks}}, "request");
        return frame;
    };
    const bool is_accepted = accepts(over_grpc, masks, results);
    if (!json::parse(masks, nullptr, false).is_object()) {
        return;
    }
    const std::string body =
        R"({"parameters":{"masks":)" + masks +
        R"(},"inputs":[{"name":"adc","datatype":"INT16","shape":[2,2],"data":[1,2,3,4]}]})";
    const auto over_http = [&] { return input_frame(kserve::parse_infer_request({body, {}}, "chain")); };
    if (accepts(over_http, masks, results) != is_accepted) {
        throw Defect("masks that only one of gRPC and HTTP accepts");
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
