// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/dnn/input/network_input.h"

#include "tests/support/components.h"

#include <gtest/gtest.h>

namespace spng {
namespace {

constexpr const char* narrow = "low pass 0.12 MHz";
constexpr const char* wide = "low pass 0.3 MHz";

NetworkInput job_input() {
    return {.detectors = {"own", "like-own"},
            .filter_set = "smooth",
            .tick = 500,
            .features = {"loose", "tight", "mp2", "mp3"},
            .images = {{"loose", 0, narrow}, {"loose", 1, wide}, {"tight", 0, narrow}, {"tight", 1, narrow}}};
}

/// A network with the features loose, mp2, mp3 that was trained on the input of the job.
TrainedInput trained() {
    return {.detector = "own", .filter_set = "smooth", .tick = 500, .images = {{"loose", {narrow, wide}}}};
}

using Features = std::vector<std::string>;

void compare(const NetworkInput& job, const TrainedInput& network,
             const Features& features = {"loose", "mp2", "mp3"}) {
    require_trained_input(job, features, network, "node; network.ts");
}

Error error_of_comparison(const NetworkInput& job, const TrainedInput& network,
                          const Features& features = {"loose", "mp2", "mp3"}) {
    const Error error = test::error_of([&] { compare(job, network, features); });
    EXPECT_EQ(error.kind(), ErrorKind::Model);
    EXPECT_EQ(error.text().where, "node; network.ts");
    EXPECT_FALSE(error.text().hint.empty());
    return error;
}

TEST(NetworkInput, AcceptsTheInputOfTheTraining) {
    EXPECT_NO_THROW(compare(job_input(), trained()));
    TrainedInput of_variant = trained();
    of_variant.detector = "like-own";
    EXPECT_NO_THROW(compare(job_input(), of_variant));
}

TEST(NetworkInput, ComparesNothingThatIsNotGiven) {
    EXPECT_NO_THROW(compare({}, trained()));
    EXPECT_NO_THROW(compare(job_input(), {}));
}

TEST(NetworkInput, RejectsFeaturesThatTheJobDoesNotMake) {
    const Error error = error_of_comparison(job_input(), trained(), {"loose", "dense", "mp3", "mp1"});
    EXPECT_EQ(error.text().seen, "dense, mp1");
    EXPECT_EQ(error.text().expected, "features among loose, tight, mp2, mp3");
}

TEST(NetworkInput, RejectsAnotherDetector) {
    TrainedInput network = trained();
    network.detector = "other";
    const Error error = error_of_comparison(job_input(), network);
    EXPECT_EQ(error.text().seen, "a network for other");
    EXPECT_EQ(error.text().expected, "one for own or like-own");
}

TEST(NetworkInput, RejectsAnotherTick) {
    TrainedInput network = trained();
    network.tick = 512;
    const Error error = error_of_comparison(job_input(), network);
    EXPECT_EQ(error.text().seen, "a network for ticks of 512.0 ns");
    EXPECT_EQ(error.text().expected, "one for ticks of 500.0 ns");
}

TEST(NetworkInput, RejectsOtherFiltersOfAFeature) {
    NetworkInput job = job_input();
    job.filter_set = "pdsp";
    job.images[2].filters = wide; // of tight, which this network does not take
    EXPECT_NO_THROW(compare(job, trained()));
    job.images[1].filters = narrow;
    const Error error = error_of_comparison(job, trained());
    EXPECT_EQ(error.text().seen, "loose of plane 1, filter set pdsp: low pass 0.12 MHz");
    EXPECT_EQ(error.text().expected, wide);
    EXPECT_EQ(error.text().hint.find("use -A filters=smooth"), 0U);
}

TEST(NetworkInput, RejectsPlanesThatTheTrainingLacked) {
    NetworkInput job = job_input();
    job.images.push_back({"loose", 2, narrow});
    EXPECT_EQ(error_of_comparison(job, trained()).text().seen, "loose of plane 2");
    TrainedInput of_second_plane = trained();
    of_second_plane.images["loose"][0] = "";
    EXPECT_EQ(error_of_comparison(job_input(), of_second_plane).text().seen, "loose of plane 0");
}

TEST(NetworkInput, IsWrittenAsKeysOfANetworksFile) {
    NetworkInput job = job_input();
    job.images.erase(job.images.begin()); // loose of plane 0
    EXPECT_EQ(json_of(job), nlohmann::json::parse(R"({
        "detector": "own", "filter_set": "smooth", "tick": 500.0,
        "images": {"loose": ["", "low pass 0.3 MHz"], "tight": ["low pass 0.12 MHz", "low pass 0.12 MHz"]}})"));
}

} // namespace
} // namespace spng
