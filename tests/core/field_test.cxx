// SPDX-License-Identifier: Apache-2.0
#include "spng/core/field.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace spng {
namespace {

struct Inner {
    std::string name = "x";
    static constexpr auto fields() {
        return std::make_tuple(field(&Inner::name, "name", "", one_of("x", "y"), "which"));
    }
};

struct Outer {
    double factor = 3;
    int count = 2;
    bool flag = false;
    std::vector<double> list = {1, 2};
    std::vector<Inner> inners;
    std::string file;
    std::int64_t bytes = 0;
    std::size_t size = 0;
    static constexpr auto fields() {
        return std::make_tuple(field(&Outer::factor, "threshold_rms_factor", "1", between(0, 10), "factor"),
                               field(&Outer::count, "count", "", at_least(1), "count"),
                               field(&Outer::flag, "flag", "", any(), "flag"),
                               field(&Outer::list, "list", "ns", above(0), "list"),
                               field(&Outer::inners, "inners", "", any(), "inners"),
                               field(&Outer::file, "file", "", required(), "file"),
                               field(&Outer::bytes, "bytes", "B", any(), "bytes"),
                               field(&Outer::size, "size", "", any(), "size"));
    }
};

struct Steps {
    std::vector<int> steps;
    static constexpr auto fields() {
        return std::make_tuple(field(&Steps::steps, "steps", "ticks", required(at_least(3)), "steps"));
    }
};

template <class Config = Outer>
ErrorText rejection(const char* text) {
    try {
        parse<Config>(nlohmann::json::parse(text), "SPNGThing:a");
    } catch (const Error& error) {
        EXPECT_EQ(error.exit_status(), 2);
        return error.text();
    }
    ADD_FAILURE() << "accepted " << text;
    return {};
}

TEST(Field, MissingKeysKeepTheirDefaults) {
    const auto outer = parse<Outer>(R"({"file": "f", "count": 5.0})"_json, "here");
    EXPECT_EQ(outer.factor, 3);
    EXPECT_EQ(outer.count, 5);
    EXPECT_EQ(outer.list, (std::vector<double>{1, 2}));
    EXPECT_EQ(outer.file, "f");
}

TEST(Field, NestedStructsAndListsAreRead) {
    const auto outer = parse<Outer>(
        R"({"file": "f", "list": [4], "inners": [{"name": "y"}, {}], "flag": true})"_json, "here");
    ASSERT_EQ(outer.inners.size(), 2u);
    EXPECT_EQ(outer.inners[0].name, "y");
    EXPECT_EQ(outer.inners[1].name, "x");
    EXPECT_EQ(outer.list, std::vector<double>{4});
    EXPECT_TRUE(outer.flag);
}

TEST(Field, UnknownKeyNamesTheNearest) {
    const auto text = rejection(R"({"file": "f", "treshold_rms_factor": 3})");
    EXPECT_EQ(text.what, "unknown configuration key 'treshold_rms_factor'");
    EXPECT_EQ(text.where, "SPNGThing:a");
    EXPECT_EQ(text.hint, "did you mean 'threshold_rms_factor'?");
}

TEST(Field, WrongTypeNamesKeyAndBothTypes) {
    const auto text = rejection(R"({"file": "f", "count": "two"})");
    EXPECT_EQ(text.where, "SPNGThing:a, key count");
    EXPECT_EQ(text.seen, "\"two\" (string)");
    EXPECT_EQ(text.expected, "integer");
    EXPECT_EQ(rejection(R"({"file": "f", "count": 1.5})").expected, "integer");
    EXPECT_EQ(rejection(R"({"file": "f", "inners": [{"name": 1}]})").where,
              "SPNGThing:a, key inners[0].name");
    EXPECT_EQ(text.hint, "");
}

TEST(Field, NodeInPlaceOfAValueIsRecognised) {
    const auto text = rejection(R"({"file": "f", "count": {"edges": [], "iports": [], "oports": []}})");
    EXPECT_EQ(text.expected, "integer");
    EXPECT_NE(text.hint.find("order of the arguments"), std::string::npos);
}

TEST(Field, RangesApplyToNumbersElementsAndChoices) {
    EXPECT_EQ(rejection(R"({"file": "f", "threshold_rms_factor": 11})").expected, "0 <= value <= 10");
    EXPECT_EQ(rejection(R"({"file": "f", "count": 0})").expected, ">= 1");
    EXPECT_EQ(rejection(R"({"file": "f", "list": [1, 0]})").where, "SPNGThing:a, key list[1]");
    EXPECT_EQ(rejection(R"({"file": "f", "list": [1, 0]})").expected, "> 0 [ns]");
    EXPECT_EQ(rejection(R"({"file": "f", "inners": [{"name": "z"}]})").expected, "one of 'x', 'y'");
}

TEST(Field, IntegersMustFitTheirType) {
    EXPECT_EQ(rejection(R"({"file": "f", "count": 2147483648})").expected, "1 <= value <= 2147483647");
    EXPECT_EQ(rejection(R"({"file": "f", "count": 1e300})").expected, "1 <= value <= 2147483647");
    EXPECT_EQ(rejection(R"({"file": "f", "bytes": -1e16})").expected, "-9e+15 <= value <= 9e+15 [B]");
    EXPECT_EQ(rejection(R"({"file": "f", "size": -1})").expected, "0 <= value <= 9e+15");
    const auto outer = parse<Outer>(
        R"({"file": "f", "count": 2147483647, "bytes": 9000000000000000, "size": 9e15})"_json, "here");
    EXPECT_EQ(outer.count, 2147483647);
    EXPECT_EQ(outer.bytes, 9'000'000'000'000'000);
    EXPECT_EQ(outer.size, 9'000'000'000'000'000U);
}

TEST(Field, RequiredKeysMustBeGivenAndNotEmpty) {
    EXPECT_EQ(rejection(R"({})").what, "missing configuration key 'file'");
    EXPECT_EQ(rejection(R"({"file": ""})").where, "SPNGThing:a, key file");
    EXPECT_EQ(rejection(R"({"file": ""})").expected, "a value that is not empty");
    EXPECT_EQ(rejection<Steps>(R"({"steps": []})").expected, "a value that is not empty");
    EXPECT_EQ(rejection<Steps>(R"({"steps": [4, 2]})").expected, ">= 3 [ticks]");
}

TEST(Field, DescriptionHasDefaultsAndMembers) {
    const auto rows = describe_fields<Outer>();
    ASSERT_EQ(rows.size(), 8u);
    EXPECT_EQ(rows[0].name, "threshold_rms_factor");
    EXPECT_EQ(rows[0].type, "number");
    EXPECT_EQ(rows[0].default_value, 3);
    EXPECT_EQ(rows[3].type, "array of number");
    ASSERT_EQ(rows[4].members.size(), 1u);
    EXPECT_EQ(rows[4].members[0].name, "name");
}

TEST(NearestName, FindsTyposSwapsAndDroppedPrefixes) {
    const std::vector<std::string> names{"SPNGDecon", "SPNGApplyROI", "SPNGThresholdROIs"};
    EXPECT_EQ(nearest_name("SPNGDecno", names), "SPNGDecon");
    EXPECT_EQ(nearest_name("ThresholdROIs", names), "SPNGThresholdROIs");
    EXPECT_EQ(nearest_name("completely_different_name", names), "");
}

struct WithWctName {
    int bits = 14;
    double length = 1;
    static constexpr auto fields() {
        return std::make_tuple(
            field(&WithWctName::bits, "bits", "", between(1, 15), "bits").or_wct("resolution"),
            field(&WithWctName::length, "length", "", any(), "length"));
    }
};

ErrorText rejection_with_wct_name(const char* text) {
    try {
        parse<WithWctName>(nlohmann::json::parse(text), "SPNGThing:a");
    } catch (const Error& error) {
        return error.text();
    }
    ADD_FAILURE() << "accepted " << text;
    return {};
}

TEST(Field, AKeyMayHaveItsNameInTheToolkit) {
    EXPECT_EQ(parse<WithWctName>(R"({"resolution": 12})"_json, "here").bits, 12);
    EXPECT_EQ(parse<WithWctName>(R"({"bits": 11})"_json, "here").bits, 11);
    const ErrorText range = rejection_with_wct_name(R"({"resolution": 16})");
    EXPECT_EQ(range.where, "SPNGThing:a, key resolution");
    const ErrorText both = rejection_with_wct_name(R"({"resolution": 12, "bits": 12})");
    EXPECT_EQ(both.what, "a configuration key is given under two names");
    EXPECT_EQ(both.where, "SPNGThing:a");
    EXPECT_EQ(both.seen, "bits and resolution");
}

TEST(Field, AnEmptyKeyIsNotANameInTheToolkit) {
    EXPECT_EQ(rejection_with_wct_name(R"({"": 12})").what, "unknown configuration key ''");
}

TEST(Field, DescriptionsHaveTheNameInTheToolkit) {
    const auto rows = describe_fields<WithWctName>();
    EXPECT_EQ(rows[0].name, "bits");
    EXPECT_EQ(rows[0].wct_name, "resolution");
    EXPECT_EQ(rows[1].wct_name, "");
}

} // namespace
} // namespace spng
