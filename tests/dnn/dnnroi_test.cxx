// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/dnn/dnnroi.h"

#include "spng/core/rows/bit_ticks.h"
#include "spng/core/rows/encodings.h"
#include "tests/dnn/script_model.h"
#include "tests/support/components.h"
#include "tests/support/paths.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <limits>
#include <utility>

namespace spng {
namespace {

using nlohmann::json;

at::Tensor mask_of(const std::vector<int>& values, at::IntArrayRef sizes) {
    return at::tensor(values).to(at::kBool).view(sizes);
}

/// One view with 3 channels and 4 samples of 4 ticks; channel 2 is dead.
class DNNROITest : public testing::Test {
protected:
    std::filesystem::path file() const { return m_folder / "network.ts"; }

    DNNROI& node(const json& data = json::object(), const json& service = json::object()) {
        json of_service{
            {"model", file().string()}, {"probe", {1, 3, 4}}, {"multiple", 4}, {"bad_output", "warning"}};
        of_service.update(service);
        json of_node{{"forward", "SPNGTorchService:dnnroi"}};
        of_node.update(data);
        m_components.add("SPNGTorchService:dnnroi", of_service);
        auto& node = dynamic_cast<DNNROI&>(m_components.add("SPNGDNNROI:induction", of_node));
        m_components.environment().prepare_all();
        return node;
    }

    Ports inputs() const {
        auto event = std::make_shared<EventInfo>();
        event->tick = 500;
        event->ticks = 16;
        auto channels = std::make_shared<ChannelTable>();
        channels->good = mask_of({1, 1, 0}, {1, 3});
        NamedTensor image;
        image.name = "loose";
        image.unit = "electrons";
        image.axes = {{"view", "", 0, 1}, {"channel", "", 0, 1}, {"tick", "ns", 0, 2000}};
        image.channels = channels;
        image.data = at::tensor({2000.F, 2004.F, 1000.F, 1004.F, //
                                 0.F, 4.F, 0.F, -4000.F,         //
                                 9000.F, 9000.F, 9000.F, 9000.F})
                         .view({1, 3, 4});
        NamedTensor mp2 = image;
        mp2.name = "mp2";
        mp2.unit.clear();
        mp2.data = mask_of({0, 0, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1}, {1, 3, 4});
        NamedTensor mp3 = mp2;
        mp3.name = "mp3";
        mp3.data = pack_ticks(mask_of({0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1}, {1, 3, 4}));
        mp3.encoding = PackedMask{4}; // mp2 is not packed: both are accepted
        return {std::make_shared<const TensorSet>(event, std::vector{image}),
                std::make_shared<const TensorSet>(event, std::vector{mp2, mp3})};
    }

    static TensorSetPtr run(DNNROI& node, const Ports& inputs) {
        return node.call(0, inputs, instrument::MeterMode{}).at(0);
    }

    std::filesystem::path m_folder = test::temporary_folder("dnnroi");
    test::Components m_components;
};

TEST_F(DNNROITest, RegionsOfAWeightedSum) {
    test::save_weighted_sum(file(), 1, 0.25, 0.5);
    // charge / 4000 + mp2 / 4 + mp3 / 2 strictly above 1/2; a scaled mp2 or mp3 would change all of the
    // second channel.
    const auto expected = mask_of({0, 1, 0, 1, 0, 1, 1, 0, 0, 0, 0, 0}, {1, 3, 4});
    const auto out = run(node(), inputs());
    const NamedTensor& regions = out->only();
    EXPECT_EQ(regions.name, "roi");
    EXPECT_TRUE(at::equal(unpacked_mask(regions), expected)) << unpacked_mask(regions);
    EXPECT_EQ(regions.unit, "");
    EXPECT_EQ(regions.axes.back().period, 2000);
    Notes notes = regions.notes;
    EXPECT_EQ(notes.at("network_output"), "values from -0.25 to 3, expected 0 to 1");
    EXPECT_EQ(notes.at("warnings"),
              "network.ts gives values from -0.25 to 3, expected 0 to 1; thresholds need probabilities");
    notes.erase("network_output");
    notes.erase("warnings");
    EXPECT_EQ(notes,
              (Notes{{"model", "network.ts"},
                     {"model_sha256", identify_data_file("model", file()).sha256},
                     {"network_not_compared", "features, scale, sampling, detector, tick, filters, noise"}}));
}

TEST_F(DNNROITest, OutputThatIsNoProbabilityEndsTheEventOrIsNoted) {
    test::save_weighted_sum(file(), 1, 0, 0);
    const float nan = std::numeric_limits<float>::quiet_NaN(),
                infinity = std::numeric_limits<float>::infinity();
    auto& strict = node(json::object(), {{"bad_output", "error"}});
    // One bad sample of twelve in the charge image, of which the network gives the 4000th part.
    for (const auto& [charge, seen] : {std::pair{nan, "NaN"},
                                       {infinity, "values from 0 to inf"},
                                       {-4000.F, "values from -1 to 0"},
                                       {8000.F, "values from 0 to 2"}}) {
        Ports with_one = inputs();
        NamedTensor image = with_one[0]->only();
        image.data = at::zeros({1, 3, 4});
        image.data[0][1][2] = charge;
        with_one[0] = std::make_shared<const TensorSet>(with_one[0]->event_ptr(), std::vector{image});
        const auto error = test::error_of([&] { run(strict, with_one); });
        EXPECT_EQ(error.kind(), ErrorKind::Model);
        EXPECT_EQ(error.text().seen, seen);
        image.data[0][1][2] = 4000; // gives 1
        with_one[0] = std::make_shared<const TensorSet>(with_one[0]->event_ptr(), std::vector{image});
        EXPECT_FALSE(run(strict, with_one)->only().notes.contains("network_output"));
    }
}

TEST_F(DNNROITest, FeaturesGoInTheOrderOfTheService) {
    test::save_weighted_sum(file(), 0.5, 0.25, 1, R"({"inputs": ["mp3", "mp2", "loose"]})");
    const auto expected = mask_of({0, 1, 0, 1, 0, 1, 1, 0, 0, 0, 0, 0}, {1, 3, 4});
    const auto out = run(node(json::object(), {{"features", {"mp3", "mp2", "loose"}}}), inputs());
    EXPECT_TRUE(at::equal(unpacked_mask(out->only()), expected));
}

TEST_F(DNNROITest, ScaleOffsetThresholdAndNames) {
    test::save_weighted_sum(file(), 1, 0, 0);
    auto& scaled = node({{"input_scale", 0.001},
                         {"input_offset", 0.5},
                         {"mask_threshold", 1.5},
                         {"output", "regions"},
                         {"probability", "score"}});
    const auto out = run(scaled, inputs());
    EXPECT_TRUE(at::equal(unpacked_mask(out->at("regions")),
                          mask_of({1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0}, {1, 3, 4})));
    const auto& score = out->at("score");
    EXPECT_NEAR(score.data[0][0][1].item<double>(), 2.504, 1e-6);
    EXPECT_NEAR(score.data[0][1][3].item<double>(), -3.5, 1e-6);
    EXPECT_NEAR(score.data[0][2][0].item<double>(), 9.5, 1e-6) << "dead channels keep their score";
}

TEST_F(DNNROITest, StandInIsNoted) {
    test::save_weighted_sum(file(), 1, 1, 1, R"({"stand_in": true})");
    const auto notes = run(node(), inputs())->only().notes;
    EXPECT_EQ(notes.at("model"), "network.ts");
    EXPECT_EQ(notes.at("stand-in"), "made by hand for tests, not a trained network");
}

TEST_F(DNNROITest, NetworkForAnotherScale) {
    test::save_weighted_sum(file(), 1, 1, 1, R"({"scale": 0.000125})");
    const auto error = test::error_of([&] { node(); });
    EXPECT_EQ(error.kind(), ErrorKind::Model);
    EXPECT_NE(error.text().where.find("SPNGDNNROI:induction, key input_scale"), std::string::npos);
}

TEST_F(DNNROITest, NetworkForAnotherDetector) {
    test::save_weighted_sum(file(), 1, 1, 1, R"({"detector": "elsewhere"})");
    const auto error = test::error_of([&] { node({{"input", {{"detectors", {"here"}}}}}); });
    EXPECT_EQ(error.kind(), ErrorKind::Model);
    EXPECT_EQ(error.text().where, "SPNGDNNROI:induction, key input; network.ts");
}

TEST_F(DNNROITest, ReportsItsInput) {
    test::save_weighted_sum(file(), 1, 1, 1);
    const auto report = node({{"input", {{"detectors", {"here"}}, {"tick", 500}}}}).input_report();
    EXPECT_EQ(report.network_inputs.at("SPNGDNNROI:induction").at("detector"), "here");
    ASSERT_EQ(report.warnings.size(), 1U);
    EXPECT_EQ(report.warnings[0].find("network.ts has no metadata: the job does not compare features, "), 0U);
    EXPECT_EQ(report.json().at("network_inputs").at("SPNGDNNROI:induction").at("tick"), 500);
}

TEST_F(DNNROITest, NetworkForAnotherSampling) {
    test::save_weighted_sum(file(), 1, 1, 1, R"({"rebin": 10})");
    auto& wrong = node();
    const auto error = test::error_of([&] { run(wrong, inputs()); });
    EXPECT_EQ(error.kind(), ErrorKind::Model);
    EXPECT_EQ(error.text().seen, "4 ticks per sample");
    EXPECT_EQ(error.text().expected, "10");
}

TEST_F(DNNROITest, MissingFeatureIsNamed) {
    test::save_weighted_sum(file(), 1, 1, 1);
    auto& asking = node(json::object(), {{"features", {"dense", "mp2", "mp3"}}});
    EXPECT_NE(std::string(test::error_of([&] { run(asking, inputs()); }).what()).find("dense"),
              std::string::npos);
}

constexpr const char* trained_in_noise = R"({"training_noise": {"loose": [500]}, "noise_range": [0.5, 2]})";

/// The first input, with the noise of its channels and a plane.
Ports with_noise(Ports inputs, const std::vector<float>& rms) {
    NamedTensor image = inputs[0]->only();
    image.summary = at::tensor(rms).view({1, 3});
    auto channels = std::make_shared<ChannelTable>(*image.channels);
    channels->planes = {0};
    channels->views = {"U"};
    image.channels = std::move(channels);
    inputs[0] = std::make_shared<const TensorSet>(inputs[0]->event_ptr(), std::vector{image});
    return inputs;
}

TEST_F(DNNROITest, DividesChargeByTheNoiseRatio) {
    test::save_weighted_sum(file(), 1, 0, 0, trained_in_noise);
    auto& scaling = node({{"probability", "score"}});
    const auto score = [&](const std::vector<float>& rms) {
        return run(scaling, with_noise(inputs(), rms))->at("score").data;
    };
    // The third channel is dead: its noise does not count for the view.
    EXPECT_FLOAT_EQ(score({500, 500, 9000})[0][0][0].item<float>(), 0.5F);
    EXPECT_FLOAT_EQ(score({100, 100, 0})[0][0][0].item<float>(), 0.5F) << "never amplified";
    EXPECT_FLOAT_EQ(score({1000, 1000, 0})[0][0][0].item<float>(), 0.25F);
    const at::Tensor hot = score({500, 2000, 0}); // the lower median is 500
    EXPECT_FLOAT_EQ(hot[0][0][0].item<float>(), 0.5F);
    EXPECT_FLOAT_EQ(hot[0][1][3].item<float>(), -0.25F);
}

TEST_F(DNNROITest, DividesEachImageByItsOwnNoise) {
    // 1 loose + 10 tight: the tight image is the loose one, with other noise.
    test::save_weighted_sum(file(), 1, 10, 0, R"({"inputs": ["loose", "tight", "mp3"],
        "training_noise": {"loose": [500], "tight": [100]}, "noise_range": [0.5, 2]})");
    auto& scaling = node({{"probability", "score"}}, {{"features", {"loose", "tight", "mp3"}}});
    auto given = with_noise(inputs(), {1000, 1000, 0});
    NamedTensor tight = given[0]->only();
    tight.name = "tight";
    tight.summary = at::tensor({400.F, 400.F, 0.F}).view({1, 3});
    given[0] = std::make_shared<const TensorSet>(given[0]->event_ptr(),
                                                 std::vector{given[0]->only(), std::move(tight)});
    const auto score = run(scaling, given)->at("score").data;
    EXPECT_FLOAT_EQ(score[0][0][0].item<float>(), 0.5F / 2 + 10 * 0.5F / 4);
}

TEST_F(DNNROITest, RejectsAModelThatLacksTheNoiseOfAnImage) {
    test::save_weighted_sum(file(), 1, 0, 0,
                            R"({"training_noise": {"tight": [500]}, "noise_range": [0.5, 2]})");
    const auto error = test::error_of([&] { node(); });
    EXPECT_EQ(error.kind(), ErrorKind::Model);
    EXPECT_EQ(error.text().seen, "no loose in training_noise");
}

// The output of the good channels is 0.5, 0.501, 0.25, 0.251, 0, 0.001, 0, -1.
TEST_F(DNNROITest, ThresholdOfTheFile) {
    test::save_weighted_sum(file(), 1, 0, 0, R"({"mask_threshold": 0.2505})");
    EXPECT_EQ(unpacked_mask(run(node(), inputs())->only()).sum().item<std::int64_t>(), 3);
}

TEST_F(DNNROITest, GivenThresholdReplacesThatOfTheFile) {
    test::save_weighted_sum(file(), 1, 0, 0, R"({"mask_threshold": 0.2505})");
    const auto regions = run(node({{"mask_threshold", 0}}), inputs());
    EXPECT_EQ(unpacked_mask(regions->only()).sum().item<std::int64_t>(), 5);
}

TEST_F(DNNROITest, RoisHaveNoNoise) {
    test::save_weighted_sum(file(), 1, 0, 0, trained_in_noise);
    EXPECT_FALSE(run(node(), with_noise(inputs(), {500, 500, 500}))->only().summary.defined());
}

TEST_F(DNNROITest, DoesNotScaleWithoutTrainingNoise) {
    test::save_weighted_sum(file(), 1, 0, 0);
    const auto out = run(node({{"probability", "score"}}), with_noise(inputs(), {9000, 9000, 0}));
    EXPECT_FLOAT_EQ(out->at("score").data[0][0][0].item<float>(), 0.5F);
}

TEST_F(DNNROITest, RejectsAnImageWithoutNoise) {
    test::save_weighted_sum(file(), 1, 0, 0, trained_in_noise);
    auto& scaling = node();
    const auto error = test::error_of([&] { run(scaling, inputs()); });
    EXPECT_EQ(error.kind(), ErrorKind::Configuration);
    EXPECT_NE(error.text().hint.find("SPNGChannelRMS"), std::string::npos);
}

TEST_F(DNNROITest, RejectsAPlaneWithoutTrainingNoise) {
    test::save_weighted_sum(file(), 1, 0, 0, trained_in_noise);
    auto& scaling = node();
    auto given = with_noise(inputs(), {500, 500, 500});
    NamedTensor image = given[0]->only();
    auto channels = std::make_shared<ChannelTable>(*image.channels);
    channels->planes = {2};
    image.channels = std::move(channels);
    given[0] = std::make_shared<const TensorSet>(given[0]->event_ptr(), std::vector{image});
    const auto error = test::error_of([&] { run(scaling, given); });
    EXPECT_EQ(error.kind(), ErrorKind::Model);
    EXPECT_EQ(error.text().seen, "plane 2");
}

TEST_F(DNNROITest, DoesNotChangeItsInputs) {
    test::save_weighted_sum(file(), 1, 1, 1);
    const auto given = inputs();
    run(node(), given);
    EXPECT_TRUE(at::equal(given[0]->at("loose").data, inputs()[0]->at("loose").data));
    EXPECT_TRUE(at::equal(given[1]->at("mp3").data, inputs()[1]->at("mp3").data));
}

} // namespace
} // namespace spng
