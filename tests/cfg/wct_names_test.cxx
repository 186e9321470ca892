// SPDX-License-Identifier: Apache-2.0
// Names of the Wire-Cell Toolkit (WCT) in a job: accepted if they mean the same here, otherwise errors that name the page.

#include "spng/job/wct_names.h"

#include "spng/core/error.h"
#include "spng/core/registry.h"
#include "spng/engine/engine.h"
#include "spng/graph/node.h"
#include "spng/job/job.h"
#include "spng/job/job_entries.h"
#include "spng/job/plugins.h"
#include "tests/cfg/wct_name_list.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace spng {
namespace {

using nlohmann::json;
using test::wct_name_list;

constexpr const char* page = "docs/migration.md";

/// Return the text of the error with which a job of these components ends.
ErrorText error_of(const json& components) {
    try {
        const Job job(components, "job.json", "");
    } catch (const Error& error) {
        EXPECT_EQ(error.exit_status(), 2);
        return error.text();
    }
    ADD_FAILURE() << "accepted " << components;
    return {};
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// The keys of a type, with their names in WCT.
std::set<std::string> keys_of(const std::string& type) {
    const bool is_engine = type == "Pgrapher" || type == "TbbFlow";
    std::set<std::string> keys;
    for (const auto& field :
         is_engine ? describe_fields<EngineConfig>() : Registry::instance().find(type)->describe()) {
        keys.insert(field.name);
        if (!field.wct_name.empty()) {
            keys.insert(field.wct_name);
        }
    }
    return keys;
}

bool is_known(const std::string& type) {
    return type == "Pgrapher" || type == "TbbFlow" || Registry::instance().find(type) != nullptr;
}

TEST(WctNames, EachTypeIsAcceptedOrNamesThePage) {
    int known = 0, unknown = 0;
    for (const auto& [type, keys] : wct_name_list().at("types").items()) {
        if (is_known(type)) {
            ++known;
            EXPECT_EQ(instead_of_wct_type(type), "") << type;
            continue;
        }
        ++unknown;
        const ErrorText error = error_of(json::array({{{"type", type}, {"name", "a"}, {"data", {}}}}));
        EXPECT_TRUE(contains(error.what, "'" + type + "' of the Wire-Cell Toolkit (WCT)")) << error.what;
        EXPECT_TRUE(contains(error.where, type + ":a")) << error.where;
        EXPECT_TRUE(contains(error.hint, page)) << type << ": " << error.hint;
    }
    EXPECT_GE(known, 25);
    EXPECT_GE(unknown, 90);
}

TEST(WctNames, EachKeyOfAKnownTypeIsAcceptedOrNamesThePage) {
    // AnodePlane lists the keys of its faces too.
    const std::set<std::string> nested{"anode", "cathode", "response"};
    int accepted = 0, rejected = 0;
    for (const auto& [type, keys] : wct_name_list().at("types").items()) {
        if (!is_known(type)) {
            continue;
        }
        const auto own = keys_of(type);
        for (const std::string key : keys) {
            if (own.contains(key)) {
                ++accepted;
            } else if (type != "AnodePlane" || !nested.contains(key)) {
                ++rejected;
                const ErrorText error = error_of(json::array({{{"type", type}, {"data", {{key, 0}}}}}));
                EXPECT_EQ(error.what, "key '" + key + "' of the Wire-Cell Toolkit (WCT) does not exist here")
                    << type;
                EXPECT_TRUE(contains(error.where, type)) << error.where;
                EXPECT_TRUE(contains(error.hint, page)) << error.hint;
            }
        }
    }
    EXPECT_GE(accepted, 40);
    EXPECT_GE(rejected, 90);
}

TEST(WctNames, NoKeyIsBothAcceptedAndRejected) {
    auto types = Registry::instance().types();
    types.insert(types.end(), {"Pgrapher", "TbbFlow"});
    int count = 0;
    for (const auto& type : types) {
        const auto own = keys_of(type);
        for (const auto& key : wct_keys_without_equal(type)) {
            ++count;
            EXPECT_FALSE(own.contains(key)) << type << " " << key;
        }
    }
    EXPECT_GE(count, 200);
}

TEST(WctNames, TypesAreFoundByTheirNameInTheToolkit) {
    const auto& registry = Registry::instance();
    int count = 0;
    for (const auto& type : registry.types()) {
        const std::string& other_name = registry.find(type)->type.wct_name;
        if (!other_name.empty()) {
            ++count;
            EXPECT_EQ(registry.find(other_name), registry.find(type));
            EXPECT_TRUE(wct_name_list().at("types").contains(other_name)) << other_name;
        }
    }
    EXPECT_EQ(count, 4);
    EXPECT_EQ(registry.find("FrameToTorchSetFanout")->type.type, "SPNGFrameToTorchSetFanout");
}

TEST(WctNames, AJobUsesNamesOfTheToolkit) {
    const auto node = [](const char* name) { return json{{"node", name}, {"port", 0}}; };
    json components = json::array(
        {{{"type", "DepoFileSource"},
          {"name", ""},
          {"data", {{"inname", "in.npz"}}},
          {"_pnode", {{"nin", 0}, {"nout", 1}}}},
         {{"type", "DepoFileSink"},
          {"name", "a"},
          {"data", {{"outname", "out.npz"}}},
          {"_pnode", {{"nin", 1}, {"nout", 0}}}},
         {{"type", "Pgrapher"},
          {"data", {{"edges", {{{"tail", node("DepoFileSource")}, {"head", node("DepoFileSink:a")}}}}}}}});
    const Job job(components, "job.json", "");
    ASSERT_EQ(job.graph().vertices().size(), 2U);
    EXPECT_EQ(job.graph().vertices()[1].node->name().text(), "DepoFileSink:a");
    components[0]["_pnodes"] = 1;
    EXPECT_EQ(error_of(components).what, "unknown configuration key '_pnodes'");
}

TEST(WctNames, AnEmptyListOfTagsNamesThePage) {
    const ErrorText error = error_of(json::array(
        {{{"type", "FrameFileSource"}, {"data", {{"inname", "in.npz"}, {"tags", json::array()}}}}}));
    EXPECT_EQ(error.seen, "[]");
    EXPECT_TRUE(contains(error.where, "FrameFileSource, key tags")) << error.where;
    EXPECT_TRUE(contains(error.hint, page)) << error.hint;
}

TEST(WctNames, AKeyUnderBothNamesIsAnError) {
    const json both = json::array(
        {{{"type", "SPNGThresholdROIs"}, {"data", {{"output", "a"}, {"output_tensor_tag", "a"}}}}});
    EXPECT_EQ(error_of(both).seen, "output and output_tensor_tag");
}

TEST(WctNames, EachPluginIsBuiltInOrNamesThePage) {
    std::vector<std::string> accepted;
    for (const std::string plugin : wct_name_list().at("plugins")) {
        try {
            load_plugin(plugin);
            accepted.push_back(plugin);
        } catch (const Error& error) {
            EXPECT_EQ(error.text().what,
                      "plugin '" + plugin + "' of the Wire-Cell Toolkit (WCT) does not exist here");
            EXPECT_TRUE(contains(error.text().hint, page)) << error.text().hint;
        }
    }
    EXPECT_EQ(accepted, (std::vector<std::string>{"WireCellApps", "WireCellAux", "WireCellGen", "WireCellImg",
                                                  "WireCellPgraph", "WireCellSigProc", "WireCellSio",
                                                  "WireCellSpng", "WireCellTbb"}));
}

TEST(WctNames, OtherNamesHaveTheNearestAsHint) {
    EXPECT_TRUE(contains(error_of(json::array({{{"type", "SPNGDecom"}}})).hint, "SPNGDecon"));
    EXPECT_EQ(instead_of_wct_type("SPNGDecom"), "");
    EXPECT_EQ(instead_of_wct_plugin("WireCellSpng"), "");
    EXPECT_EQ(wct_keys_without_equal("SPNGContext"), std::vector<std::string>{});
}

} // namespace
} // namespace spng
