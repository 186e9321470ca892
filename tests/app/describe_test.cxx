// SPDX-License-Identifier: Apache-2.0
// The reference text and schema of a type, from its declaration.

#include "spng/app/describe.h"

#include "spng/core/error.h"

#include <gtest/gtest.h>

namespace {

using spng::any;
using spng::at_least;
using spng::field;
using spng::required;

struct InnerConfig {
    std::string label;
    static constexpr auto fields() {
        return std::make_tuple(
            field(&InnerConfig::label, "label", "", required(), "name of the inner struct"));
    }
};

struct ExampleConfig {
    double factor = 2.5;
    std::vector<int> sizes{1, 2};
    std::vector<InnerConfig> views;
    static constexpr auto fields() {
        return std::make_tuple(field(&ExampleConfig::factor, "factor", "us", at_least(0), "this | that"),
                               field(&ExampleConfig::sizes, "sizes", "1", any(), "how many"),
                               field(&ExampleConfig::views, "views", "", any(), "the views"));
    }
};

spng::Registry example_registry() {
    spng::Registry registry;
    registry.add({{.type = "SPNGExample",
                   .kind = "roi",
                   .inputs = {"tight", "loose"},
                   .concurrency = spng::Concurrency::serial,
                   .text = "an example"},
                  nullptr,
                  [] { return spng::describe_fields<ExampleConfig>(); }});
    registry.add({{.type = "Plain", .kind = "service", .text = "a service"}, nullptr, [] {
                      return spng::describe_fields<spng::NoConfig>();
                  }});
    return registry;
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST(Describe, ListGroupsByKind) {
    EXPECT_EQ(spng::app::list_types(example_registry()),
              "roi\n  SPNGExample  an example\nservice\n  Plain        a service\n");
}

TEST(Describe, TypeShowsPortsAndFields) {
    const std::string text = spng::app::describe_type(example_registry(), "SPNGExample");
    EXPECT_TRUE(
        contains(text, "SPNGExample: an example\nkind roi; in: tight, loose; out: none; one event at a time"))
        << text;
    EXPECT_TRUE(contains(text, "2.5")) << text;
    EXPECT_TRUE(contains(text, ">= 0")) << text;
    EXPECT_TRUE(contains(text, "views[].label")) << text;
    EXPECT_TRUE(contains(text, "\nset a key of a job: --set SPNGExample:INSTANCE.KEY=VALUE\n")) << text;
    EXPECT_TRUE(contains(spng::app::describe_type(example_registry(), "Plain"), "nothing to configure"));
}

TEST(Describe, ReferenceIsMarkdown) {
    const std::string text = spng::app::describe_type(example_registry(), "all");
    EXPECT_TRUE(contains(text, "\n## roi\n\n### SPNGExample\n")) << text;
    EXPECT_TRUE(contains(text, "| `factor` | number | us | 2.5 | >= 0 | this \\| that |\n")) << text;
}

TEST(Describe, Schema) {
    const auto schema = spng::app::schema_of_type(example_registry(), "SPNGExample");
    EXPECT_EQ(schema["additionalProperties"], false);
    EXPECT_EQ(
        schema["properties"]["factor"],
        nlohmann::json::parse(
            R"json({"type": "number", "minimum": 0, "default": 2.5, "description": "this | that [us]"})json"));
    EXPECT_EQ(schema["properties"]["sizes"]["items"], nlohmann::json::parse(R"({"type": "integer"})"));
    EXPECT_EQ(schema["properties"]["views"]["items"]["properties"]["label"]["type"], "string");
    EXPECT_EQ(spng::app::schema_of_type(example_registry(), "all").size(), 2U);
}

TEST(Describe, UnknownTypeNamesTheNearest) {
    try {
        spng::app::describe_type(example_registry(), "SPNGExmaple");
        FAIL();
    } catch (const spng::Error& error) {
        EXPECT_EQ(error.exit_status(), 2);
        EXPECT_EQ(error.text().hint, "did you mean 'SPNGExample'?");
    }
}

struct RenamedConfig {
    int bits = 14;
    static constexpr auto fields() {
        return std::make_tuple(
            field(&RenamedConfig::bits, "bits", "", at_least(1), "resolution").or_wct("resolution_bits"));
    }
};

TEST(Describe, NamesInTheToolkitAreShown) {
    spng::Registry registry;
    registry.add({{.type = "SPNGRenamed", .kind = "service", .text = "a service", .wct_name = "Renamed"},
                  nullptr,
                  [] { return spng::describe_fields<RenamedConfig>(); }});
    const std::string text = spng::app::describe_type(registry, "SPNGRenamed");
    EXPECT_TRUE(contains(text, "service; in WCT: Renamed\n")) << text;
    EXPECT_TRUE(contains(text, "resolution; in WCT: resolution_bits\n")) << text;
    EXPECT_EQ(spng::app::describe_type(registry, "Renamed").substr(0, 7), "Renamed");
    const auto schema = spng::app::schema_of_type(registry, "Renamed");
    EXPECT_EQ(schema["title"], "SPNGRenamed");
    EXPECT_EQ(schema["properties"]["resolution_bits"], schema["properties"]["bits"]);
    EXPECT_EQ(registry.types(), (std::vector<std::string>{"SPNGRenamed"}));
}

} // namespace
