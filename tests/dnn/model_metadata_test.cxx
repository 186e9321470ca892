// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/dnn/model.h"

#include "spng/core/error.h"

#include <gtest/gtest.h>

namespace spng {
namespace {

TEST(ModelMetadata, EmptyTextGivesEmptyMetadata) {
    const auto metadata = parse_model_metadata("", "net.ts");
    EXPECT_TRUE(metadata.inputs.empty());
    EXPECT_FALSE(metadata.scale || metadata.rebin || metadata.multiple || metadata.halo ||
                 metadata.transpose || metadata.noise);
    EXPECT_FALSE(metadata.stand_in);
}

TEST(ModelMetadata, AllKeysAreRead) {
    const auto metadata = parse_model_metadata(
        R"({"inputs": ["a", "b"], "scale": 0.5, "rebin": 4, "multiple": 8, "halo": 24, "transpose": true,
            "stand_in": true, "training_noise": {"loose": [313.5, 370], "tight": [180]}, "noise_range": [0.7, 2], "mask_threshold": 0.4,
            "detector": "pdhd", "filter_set": "smooth", "tick": 512, "images": {"loose": ["narrow", ""]},
            "trained_on": "whatever"})",
        "net.ts");
    EXPECT_EQ(metadata.inputs, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(metadata.scale, 0.5);
    EXPECT_EQ(metadata.rebin, 4);
    EXPECT_EQ(metadata.multiple, 8);
    EXPECT_EQ(metadata.halo, 24);
    EXPECT_EQ(metadata.transpose, true);
    EXPECT_TRUE(metadata.stand_in);
    ASSERT_TRUE(metadata.noise);
    EXPECT_EQ(metadata.noise->planes,
              (std::map<std::string, std::vector<double>>{{"loose", {313.5, 370}}, {"tight", {180}}}));
    EXPECT_EQ(metadata.mask_threshold, 0.4);
    EXPECT_EQ(metadata.trained_input.detector, "pdhd");
    EXPECT_EQ(metadata.trained_input.filter_set, "smooth");
    EXPECT_EQ(metadata.trained_input.tick, 512);
    EXPECT_EQ(metadata.trained_input.images,
              (std::map<std::string, std::vector<std::string>>{{"loose", {"narrow", ""}}}));
    EXPECT_EQ(metadata.noise->low, 0.7);
    EXPECT_EQ(metadata.noise->high, 2.0);
}

TEST(ModelMetadata, MissingPropertiesAreListed) {
    EXPECT_EQ(properties_not_given({}), (std::vector<std::string>{"features", "scale", "sampling", "detector",
                                                                  "tick", "filters", "noise"}));
    const auto metadata =
        parse_model_metadata(R"({"inputs": ["a"], "scale": 1, "rebin": 4, "tick": 500})", "net.ts");
    EXPECT_EQ(properties_not_given(metadata), (std::vector<std::string>{"detector", "filters", "noise"}));
}

TEST(ModelMetadata, NoiseWithoutItsRangeIsNamed) {
    try {
        parse_model_metadata(R"({"training_noise": {"loose": [313]}})", "net.ts");
        FAIL() << "accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.text().seen, "training_noise alone");
        EXPECT_EQ(error.text().expected, "training_noise and noise_range, or neither");
    }
}

class BadMetadata : public testing::TestWithParam<const char*> {};

TEST_P(BadMetadata, IsAModelErrorThatNamesTheFile) {
    try {
        parse_model_metadata(GetParam(), "net.ts");
        FAIL() << "accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::Model);
        EXPECT_NE(error.text().where.find("net.ts"), std::string::npos);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Strings, BadMetadata,
    testing::Values("no json", "[1]", R"({"inputs": "loose"})", R"({"inputs": [1]})", R"({"scale": "1"})",
                    R"({"multiple": 0})", R"({"multiple": 1.5})", R"({"halo": -1})", R"({"transpose": 1})",
                    R"({"stand_in": "yes"})", R"({"noise_range": [0.7, 2]})", R"({"mask_threshold": "high"})",
                    R"({"detector": ["pdhd"]})", R"({"tick": "500"})", R"({"tick": 0})",
                    R"({"images": ["narrow"]})", R"({"images": {"loose": "narrow"}})",
                    R"({"images": {"loose": [0.12]}})",
                    R"({"training_noise": [313], "noise_range": [0.7, 2]})",
                    R"({"training_noise": {"loose": 313}, "noise_range": [0.7, 2]})",
                    R"({"training_noise": {}, "noise_range": [0.7, 2]})",
                    R"({"training_noise": {"loose": [313, 0]}, "noise_range": [0.7, 2]})",
                    R"({"training_noise": {"loose": [313, -1]}, "noise_range": [0.7, 2]})",
                    R"({"training_noise": {"loose": ["a"]}, "noise_range": [0.7, 2]})",
                    R"({"training_noise": {"loose": [313, 1e999]}, "noise_range": [0.7, 2]})",
                    R"({"training_noise": {"loose": [313]}, "noise_range": [2, 0.7]})",
                    R"({"training_noise": {"loose": [313]}, "noise_range": [1.2, 2]})",
                    R"({"training_noise": {"loose": [313]}, "noise_range": [0.7]})",
                    R"({"training_noise": {"loose": [313]}, "noise_range": {"low": 0.7}})"));

} // namespace
} // namespace spng
