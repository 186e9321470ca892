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

TEST(ChannelList, ReadsOtherElectronics) {
    const ChannelLists lists = load_channel_lists(file_with(R"({"channel_info": [
        {"channels": {"first": 0, "last": 9}, "reconfig": {}},
        {"channels": [2, 3, 4], "reconfig": {"from": {"gain": 7.53e-13, "shaping": 1000},
                                             "to": {"gain": 2.2430470818e-12, "shaping": 2200}}},
        {"channels": 4, "reconfig": {}}]})"));
    EXPECT_TRUE(lists.has_reconfig);
    ASSERT_EQ(lists.electronics.size(), 2);
    EXPECT_EQ(lists.electronics.at(3).gain, 7.53e-13);
    EXPECT_EQ(lists.electronics.at(3).nominal_shaping, 2200);

    Components components;
    dynamic_cast<WireSchemaFile&>(
        components.add("WireSchemaFile", {{"filename", data_file("protodunehd-wires-larsoft-v1.json.gz")}}))
        .prepare(components.environment());
    const nlohmann::json own = {{{"channels", {7, 8}}, {"gain", 1e-12}, {"shaping", 1100}}};
    const auto list_of = [&](const std::string& name, const std::string& file) -> const ChannelList& {
        auto& list = dynamic_cast<ChannelList&>(
            components.add("SPNGChannelList:" + name, {{"filename", file}, {"channel_response", own}}));
        list.prepare(components.environment());
        return list;
    };
    const ChannelList& detector = list_of("detector", "");
    EXPECT_EQ(detector.electronics().size(), 2);
    EXPECT_EQ(list_of("bad", file_with(R"({"bad": [5]})")).electronics().size(), 2);
    EXPECT_EQ(list_of("file", file_with(R"({"channel_info": [{"channels": 7, "reconfig": {}}]})"))
                  .electronics()
                  .size(),
              0)
        << "a file with reconfig replaces the list";

    const Electronics nominal{.gain = 14, .shaping = 2200}, faster{.gain = 14, .shaping = 2000};
    const Electronics in_other_units{.gain = 14e12, .shaping = 2200};
    detector.require_electronics_near(nominal);
    EXPECT_EQ(error_of([&] { detector.require_electronics_near(in_other_units); }).text().where,
              "SPNGChannelList:detector, channel 7");
    const Electronics samples = sampled_electronics({0, 1300, 5000}, {0, 7, 0}, 1);
    EXPECT_EQ(error_of([&] { detector.require_electronics_near(samples); }).text().seen,
              "2 channels with a gain and a shaping time");
    const ChannelList& to = list_of("to", file_with(R"({"channel_info": [{"channels": 3, "reconfig":
        {"from": {"gain": 7.53e-13, "shaping": 1000}, "to": {"gain": 2.2430470818e-12, "shaping": 2200}}}]})"));
    to.require_electronics_near(nominal);
    EXPECT_EQ(error_of([&] { to.require_electronics_near(faster); }).text().what,
              "a channel list corrects to other electronics than the detector's");
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
    EXPECT_NE(
        message(R"({"channel_info": [{"channels": 1, "reconfig": {"from": {"gain": 1}}}]})").find("reconfig"),
        std::string::npos);
    EXPECT_NE(message(R"({"channel_info": [{"channels": 1, "reconfig": 3}]})").find("3"), std::string::npos);
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
