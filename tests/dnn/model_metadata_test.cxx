#include "spng/dnn/model.h"

#include "spng/core/error.h"

#include <gtest/gtest.h>

namespace spng {
namespace {

TEST(ModelMetadata, NothingSaidIsNothingKnown) {
    const auto metadata = parse_model_metadata("", "net.ts");
    EXPECT_TRUE(metadata.inputs.empty());
    EXPECT_FALSE(metadata.scale || metadata.rebin || metadata.multiple || metadata.halo ||
                 metadata.transpose);
    EXPECT_FALSE(metadata.stand_in);
}

TEST(ModelMetadata, AllKeysAreRead) {
    const auto metadata = parse_model_metadata(
        R"({"inputs": ["a", "b"], "scale": 0.5, "rebin": 4, "multiple": 8, "halo": 24, "transpose": true,
            "stand_in": true, "trained_on": "whatever"})",
        "net.ts");
    EXPECT_EQ(metadata.inputs, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(metadata.scale, 0.5);
    EXPECT_EQ(metadata.rebin, 4);
    EXPECT_EQ(metadata.multiple, 8);
    EXPECT_EQ(metadata.halo, 24);
    EXPECT_EQ(metadata.transpose, true);
    EXPECT_TRUE(metadata.stand_in);
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

INSTANTIATE_TEST_SUITE_P(Texts, BadMetadata,
                         testing::Values("no json", "[1]", R"({"inputs": "loose"})", R"({"inputs": [1]})",
                                         R"({"scale": "1"})", R"({"multiple": 0})", R"({"multiple": 1.5})",
                                         R"({"halo": -1})", R"({"transpose": 1})", R"({"stand_in": "yes"})"));

} // namespace
} // namespace spng
