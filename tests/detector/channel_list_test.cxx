// SPDX-License-Identifier: Apache-2.0
#include "spng/detector/channel_list.h"

#include "spng/core/error.h"
#include "spng/detector/anode_plane.h"
#include "tests/detector/detector_files.h"
#include "tests/support/components.h"
#include "tests/support/paths.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

namespace spng::test {
namespace {

std::string file_with(const std::string& content) {
    const std::string path = temporary_folder("channel_list") / "test.json";
    std::ofstream(path) << content;
    return path;
}

TEST(ChannelList, ReadsTheListsOfTheToolkit) {
    const ChannelLists lists = load_channel_lists(file_with(R"({
        "anode": "AnodePlane:0", "tick": 500, "groups": [[0, 1]],
        "bad": [2297, 5379, 2],
        "channel_info": [
            {"channels": {"first": 10, "last": 13}, "min_rms_cut": 10.0, "max_rms_cut": 30, "rcrc": 1.1e6},
            {"channels": [11, 40], "max_rms_cut": 25.5},
            {"channels": 12, "min_rms_cut": 0.5, "freqmasks": []},
            {"channels": [50], "nominal_baseline": 400}]})"));
    EXPECT_EQ(lists.bad, (std::vector<int>{2297, 5379, 2}));
    const auto cuts = [&](int channel) {
        return std::pair(lists.cuts.at(channel).low, lists.cuts.at(channel).high);
    };
    EXPECT_EQ(cuts(10), std::pair(10.0, 30.0));
    EXPECT_EQ(cuts(11), std::pair(10.0, 25.5)); // the last entry wins, key by key
    EXPECT_EQ(cuts(12), std::pair(0.5, 30.0));
    EXPECT_TRUE(std::isnan(cuts(40).first));
    EXPECT_TRUE(std::isnan(cuts(50).second));
    EXPECT_FALSE(lists.cuts.contains(14));
}

TEST(ChannelList, ErrorsNameTheEntry) {
    const auto message = [](const std::string& content) {
        const Error error = error_of([&] { load_channel_lists(file_with(content)); });
        EXPECT_EQ(error.exit_status(), 2);
        return error.text().where + ": " + error.text().seen;
    };
    EXPECT_NE(message("[1, 2]").find("[1,2]"), std::string::npos);
    EXPECT_NE(message(R"({"Bad": [1]})").find("Bad"), std::string::npos);
    EXPECT_NE(message(R"({"bad": [1, "2"]})").find("\"2\""), std::string::npos);
    EXPECT_NE(message(R"({"bad": [1.5]})").find("1.5"), std::string::npos);
    const std::string last = message(R"({"channel_info": [{"channels": 1}, {"channels": {"wpid": 3}}]})");
    EXPECT_NE(last.find("channel_info[1]"), std::string::npos) << last;
    EXPECT_NE(last.find("wpid"), std::string::npos) << last;
    EXPECT_NE(
        message(R"({"channel_info": [{"channels": {"first": 0, "last": 2000000000}}]})").find("2000000000"),
        std::string::npos);
    EXPECT_NE(
        message(R"({"channel_info": [{"channels": 1, "max_rms_cut": {"type": "linear_in_wirelength"}}]})")
            .find("linear_in_wirelength"),
        std::string::npos);
}

TEST(ChannelList, JoinsFileAndConfigurationForAllAnodes) {
    Components components;
    dynamic_cast<WireSchemaFile&>(
        components.add("WireSchemaFile", {{"filename", data_file("protodunehd-wires-larsoft-v1.json.gz")}}))
        .prepare(components.environment());
    auto& list = dynamic_cast<ChannelList&>(components.add(
        "SPNGChannelList", {{"filename", file_with(R"({"bad": [9956, 2, 5379]})")}, {"bad", {7, 2}}}));
    list.prepare(components.environment());
    EXPECT_EQ(list.bad(), (std::vector<int>{2, 7, 5379, 9956}));

    auto& wrong = dynamic_cast<ChannelList&>(components.add(
        "SPNGChannelList:wrong", {{"filename", file_with(R"({"bad": [5, 10240, -1, 99999]})")}}));
    const Error error = error_of([&] { wrong.prepare(components.environment()); });
    EXPECT_EQ(error.exit_status(), 2);
    EXPECT_EQ(error.text().seen, "3 of 4 channels: -1, 10240, 99999");
    EXPECT_NE(error.text().expected.find("channels 0 to 10239"), std::string::npos) << error.text().expected;
}

} // namespace
} // namespace spng::test
