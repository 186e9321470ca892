// SPDX-License-Identifier: Apache-2.0
// Changes of keys in an evaluated configuration (--set).

#include "spng/job/key_changes.h"

#include "spng/core/error.h"

#include <gtest/gtest.h>

#include <string>

namespace {

using nlohmann::json;
using spng::change_keys;

const json components = json::parse(R"([
    {"type": "SPNGThresholdROIs", "name": "anodes0..3", "data": {"pad": 1}},
    {"type": "SPNGThresholdROIs", "name": "collection"},
    {"type": "wire-cell", "data": {"plugins": []}}
])");

json changed(const std::vector<std::string>& changes) {
    json result = components;
    change_keys(result, changes);
    return result;
}

spng::ErrorText error_of(const std::string& change) {
    try {
        changed({change});
    } catch (const spng::Error& error) {
        EXPECT_EQ(error.kind(), spng::ErrorKind::Usage);
        return error.text();
    }
    ADD_FAILURE() << "no error for " << change;
    return {};
}

TEST(KeyChanges, OneComponentOrAllOfItsType) {
    json expected = components;
    expected[0]["data"] = {{"pad", 3}};
    EXPECT_EQ(changed({"SPNGThresholdROIs:anodes0..3.pad=3"}), expected);
    expected[0]["data"]["output"] = expected[1]["data"]["output"] = "a=b.c";
    EXPECT_EQ(changed({"SPNGThresholdROIs:anodes0..3.pad=3", "SPNGThresholdROIs.output=a=b.c"}), expected);
}

TEST(KeyChanges, ValuesAreJsonOrText) {
    const auto value = [](const std::string& text) {
        return changed({"wire-cell.x=" + text})[2]["data"]["x"];
    };
    EXPECT_EQ(value("[1, {\"a\": true}]"), json::parse("[1, {\"a\": true}]"));
    EXPECT_EQ(value("-2.5"), -2.5);
    EXPECT_EQ(value("\"5\""), "5");
    EXPECT_EQ(value(""), "");
    EXPECT_EQ(value("[1"), "[1");
    const std::string deep(2000, '[');
    EXPECT_EQ(value(deep), deep);
}

TEST(KeyChanges, NamesTheNearestComponent) {
    EXPECT_EQ(error_of("SPNGThresholdROI.pad=3").hint, "did you mean 'SPNGThresholdROIs'?");
    const auto instance = error_of("SPNGThresholdROIs:colection.pad=3");
    EXPECT_EQ(instance.what, "the job has no component SPNGThresholdROIs:colection");
    EXPECT_EQ(instance.expected, "one of: SPNGThresholdROIs:anodes0..3, SPNGThresholdROIs:collection");
    EXPECT_EQ(instance.hint, "did you mean 'SPNGThresholdROIs:collection'?");
    for (const char* const change :
         {"pad=3", "SPNGThresholdROIs.pad", "SPNGThresholdROIs.=3", ".pad=3", "="}) {
        EXPECT_EQ(error_of(change).what, "a key to set cannot be read") << change;
    }
}

} // namespace
