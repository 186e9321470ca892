// SPDX-License-Identifier: Apache-2.0
// Keys that cfg/lib/spng.jsonnet makes from the description of a detector.

#include "spng/core/error.h"
#include "spng/io/data_path.h"
#include "tests/cfg/jsonnet_snippet.h"

#include <gtest/gtest.h>

namespace {

using nlohmann::json;
using spng::test::evaluate;

/// Jsonnet in front of an expression: data(det, anode, make) is the data of the nodes of each group by name, by type of node.
/// `make` returns parts of a graph from the builders and a group.
std::string locals() {
    const std::string detectors = (spng::own_folder("cfg") / "detectors" / "all.jsonnet").string();
    return "local detectors = import '" + detectors + "';" + R"(
local spng_of = import 'spng.jsonnet', anodes = import 'anodes.jsonnet';
local data(det, anode, make) =
    local spng = spng_of(det, anode), groups = anodes.views(det.groups, [[anode]])[0];
    {
        [group.name]: {
            [node.type]: node.data
            for part in make(spng, group)
            for node in part.uses
            if std.objectHas(std.get(node, 'data', {}), 'group')
        }
        for group in groups
    };
)";
}

/// Boards of a detector: channels and shifts by group and node.
json boards(const std::string& detector, int anode) {
    const json found = evaluate(locals() + "data(" + detector + ", " + std::to_string(anode) +
                                R"(, function(spng, group)
        local filtered(steps) = spng.noise_filtered(group { noise_filters: steps, max_bad_share: 1 }, null);
        local coherent = filtered(['negative', 'coherent']);
        [coherent, coherent.inputs[0], filtered(['channels'])]))");
    json kept;
    for (const auto& [group, nodes] : found.items()) {
        for (const auto& [type, keys] : nodes.items()) {
            kept[group][type] = {keys.at("board_channels"), keys.at("board_shift")};
        }
    }
    return kept;
}

json nodes_with(const char* whole, const char* half) {
    return {{"SPNGCoherentNoiseFilter", json::parse(whole)},
            {"SPNGChannelStatus", json::parse(whole)},
            {"SPNGNegativePulses", json::parse(half)}};
}

TEST(SpngNodes, BoardsOfProtoDuneHdBelongToPlanes) {
    // V is a collection plane on anode 0, and W an induction plane.
    EXPECT_EQ(boards("detectors['pdhd-data']", 0),
              json({{"induction", nodes_with("[[40], [37]]", "[[20], [17]]")},
                    {"weak", nodes_with("[[48], [0, 0]]", "[[24], [0, 0]]")},
                    {"collection", nodes_with("[[40], [37]]", "[[20], [17]]")}}));
    EXPECT_EQ(boards("detectors['pdhd-data']", 1),
              json({{"induction", nodes_with("[[40], [31, 31]]", "[[20], [11, 11]]")},
                    {"collection", nodes_with("[[48], [0, 0]]", "[[24], [0, 0]]")}}));
}

TEST(SpngNodes, BoardsWithoutShiftsAndWithShiftsOfGroups) {
    const std::string shifted = R"(detectors.pdhd {
        negative_pulses: { parts: 2 },
        groups(anode):: [group { [if group.name == 'induction' then 'board_shift']: 25 } for group in super.groups(anode)],
    })";
    EXPECT_EQ(boards(shifted, 0), json({{"induction", nodes_with("[[40], [25]]", "[[20], [5]]")},
                                        {"collection", nodes_with("[[48], [0]]", "[[24], [0]]")}}));
}

std::string error_of(const std::string& expression) {
    try {
        evaluate(locals() + expression);
    } catch (const spng::Error& error) {
        return error.what();
    }
    return "no error";
}

TEST(SpngNodes, ViewsOfAGroupNeedOneGainWhereItIsUsed) {
    const std::string induction = R"(
        local det = detectors.pdhd {
            channel_response: [{ channels: [1], gain: 1, shaping: 1000 }],
            electronics: [super.electronics, super.electronics { gain: 1e-12 }, super.electronics],
        };
        local nodes(make) = data(det, 1, make).induction;
    )";
    const std::string different = "the planes of group 'induction' of detector 'pdhd' have different ";
    for (const auto& [make, what] : {std::pair{"[spng.ChannelStatus(group, 'none', 1)]", "gains"},
                                     std::pair{"[{ uses: [spng.ImageNoise('tight', group)] }]", "gains"},
                                     std::pair{"[spng.ChannelResponse(group)]", "electronics"}}) {
        const std::string text = error_of(induction + "nodes(function(spng, group) " + make + ")");
        EXPECT_NE(text.find(different + what + ", of which a node takes one"), std::string::npos) << text;
    }
    EXPECT_EQ(error_of(induction + "nodes(function(spng, group) [spng.CoherentNoiseFilter(group)])"),
              "no error");
}

} // namespace
