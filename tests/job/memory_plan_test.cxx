// SPDX-License-Identifier: Apache-2.0
// Memory plans: the rules beside the nodes, and the plan of the main job.

#include "spng/job/memory_plan.h"

#include "spng/core/unit_text.h"
#include "spng/graph/memory_rule.h"
#include "spng/graph/node.h"
#include "spng/job/job.h"
#include "spng/job/jsonnet/jsonnet.h"
#include "tests/support/paths.h"

#include <gtest/gtest.h>

namespace spng {
namespace {

struct SizeConfig {
    std::int64_t bytes = 100;
    static constexpr auto fields() {
        return std::make_tuple(
            field(&SizeConfig::bytes, "bytes", "bytes", at_least(0), "size of the output"));
    }
};

class TestPlannedSource : public NodeWith<SizeConfig> {
    Ports process(const Ports&) override { return {nullptr}; }
};
class TestPlannedCopy : public NodeWith<SizeConfig> {
    Ports process(const Ports& inputs) override { return inputs; }
};
class TestUnplanned : public NodeWith<NoConfig> {
    Ports process(const Ports& inputs) override { return inputs; }
};
class TestPlannedEnd : public NodeWith<NoConfig> {
    Ports process(const Ports&) override { return {}; }
};

std::vector<PlannedSet> plan_source(const SizeConfig& config, PlannedCall& call) {
    return {{call.make({1, config.bytes, 1, nullptr}, MemoryUse::input, 1)}};
}

std::vector<PlannedSet> plan_copy(const SizeConfig& config, PlannedCall& call) {
    const auto working = call.scratch(MemoryUse::spectra, config.bytes / 2);
    call.keep(3);
    return {{call.make({1, config.bytes, 1, nullptr}, MemoryUse::images, 1)}};
}

const Registration<TestPlannedSource> source_registration{
    {.type = "TestPlannedSource",
     .kind = "source",
     .outputs = {"n"},
     .concurrency = Concurrency::serial,
     .text = "test",
     .memory = memory_rule<TestPlannedSource>({.call = plan_source})}};
const Registration<TestPlannedCopy> copy_registration{
    {.type = "TestPlannedCopy",
     .kind = "plumbing",
     .inputs = {"n"},
     .outputs = {"n"},
     .text = "test",
     .memory = memory_rule<TestPlannedCopy>({.call = plan_copy})}};
const Registration<TestUnplanned> unplanned_registration{
    {.type = "TestUnplanned", .kind = "plumbing", .inputs = {"n"}, .outputs = {"n"}, .text = "test"}};
const Registration<TestPlannedEnd> end_registration{{.type = "TestPlannedEnd",
                                                     .kind = "sink",
                                                     .inputs = {"n"},
                                                     .concurrency = Concurrency::serial,
                                                     .text = "test",
                                                     .memory = passing_memory_rule()}};

MemoryPlan plan_of(const std::string& between, const nlohmann::json& data) {
    const auto edge = [](const std::string& tail, const std::string& head) {
        return nlohmann::json{{"tail", {{"node", tail}}}, {"head", {{"node", head}}}};
    };
    const nlohmann::json components{
        {{"type", "SPNGContext"}, {"data", {{"device", "cpu"}}}},
        {{"type", "TestPlannedSource"}, {"data", {{"bytes", 1000}}}},
        {{"type", between}, {"data", data}},
        {{"type", "TestPlannedEnd"}},
        {{"type", "Pgrapher"},
         {"data", {{"edges", {edge("TestPlannedSource", between), edge(between, "TestPlannedEnd")}}}}}};
    return Job(components, "test").memory_plan();
}

TEST(MemoryPlan, CallsTheRulesOfTheRegistrationsWithTheirConfigurations) {
    const MemoryPlan plan = plan_of("TestPlannedCopy", {{"bytes", 400}});
    EXPECT_EQ(plan.event, (MemoryByUse{1000, 200, 400, 0, 0}));
    EXPECT_EQ(plan.peaks_in, "TestPlannedCopy");
    EXPECT_EQ(plan.constants, 3);
    EXPECT_TRUE(plan.unknown_types.empty());
}

TEST(MemoryPlan, ReportsTypesWithoutARuleAsNotCounted) {
    const MemoryPlan plan = plan_of("TestUnplanned", nlohmann::json::object());
    EXPECT_EQ(plan.event, (MemoryByUse{1000, 0, 0, 0, 0}));
    EXPECT_EQ(plan.unknown_types, std::vector<std::string>{"TestUnplanned"});
}

TEST(MemoryPlan, GraphsGiveWayBeforeEventsInFlightAndTheLastOneAfterThem) {
    MemoryPlan plan;
    plan.event = {100, 0, 0, 0, 0};
    plan.constants = 10;
    plan.files = 5;
    const auto within = [&](std::int64_t budget) {
        const MemoryChoice choice = choose_within(plan, budget, 2, 8);
        EXPECT_LE(plan.total(choice.events_in_flight, choice.graphs), budget == 0 ? 1015 : budget);
        return std::pair(choice.events_in_flight, choice.graphs);
    };
    EXPECT_EQ(within(0), std::pair(2, 8));
    EXPECT_EQ(within(1015), std::pair(2, 8));
    EXPECT_EQ(within(1014), std::pair(2, 7));
    EXPECT_EQ(within(315), std::pair(2, 1));
    EXPECT_EQ(within(314), std::pair(1, 1));
    EXPECT_EQ(within(214), std::pair(1, 0));
    EXPECT_EQ(summary(plan, choose_within(plan, 515, 2, 8)),
              "100 B an event x 2 in flight + 100 B x 3 CUDA graphs + 10 B constants + 5 B frames of files = "
              "515 B");
}

TEST(MemoryPlan, GraphsThatNobodyAskedForGiveWayFirst) {
    MemoryPlan plan;
    plan.event = {100, 0, 0, 0, 0};
    const auto within = [&](std::int64_t budget) {
        const MemoryChoice choice = choose_within(plan, budget, 2, 8, 0);
        return std::pair(choice.events_in_flight, choice.graphs);
    };
    EXPECT_EQ(within(1000), std::pair(2, 8));
    EXPECT_EQ(within(300), std::pair(2, 1));
    EXPECT_EQ(within(299), std::pair(2, 0));
    EXPECT_EQ(within(199), std::pair(1, 0));
}

TEST(MemoryPlan, OfTheMainJob) {
    const auto root = test::repo_root();
    const auto components =
        evaluate_jsonnet(root / "cfg/pipeline.jsonnet", {}, {root / "cfg", root / "cfg/lib"});
    const Job job(components, "pipeline.jsonnet");
    const MemoryPlan& plan = job.memory_plan();
    constexpr std::int64_t induction = 2 * 800, collection = 2 * 480, ticks = 6000, frequencies = 3151;
    EXPECT_EQ(plan.ticks, ticks);
    EXPECT_EQ(plan.files, (induction + collection) * ticks * (2 + 4));
    EXPECT_EQ(plan.constants, (induction + 500) * frequencies * 8 + 22'000'000);
    EXPECT_EQ(plan.network, induction * ticks / 4 * 64);
    EXPECT_EQ(format_bytes(plan.event_peak()), "308 MB");
    EXPECT_EQ(plan.peaks_in, "SPNGDNNROI:induction");
    EXPECT_TRUE(plan.unknown_types.empty());
}

TEST(MemoryPlan, LeavesTheLayersOfARemoteNetworkToItsServer) {
    const auto root = test::repo_root();
    const auto components =
        evaluate_jsonnet(root / "cfg/pipeline.jsonnet",
                         {{JsonnetBinding::Kind::argument_text, "model_server", "localhost:8000"}},
                         {root / "cfg", root / "cfg/lib"});
    const MemoryPlan plan = Job(components, "pipeline.jsonnet").memory_plan();
    EXPECT_EQ(plan.network, 0);
    EXPECT_EQ(format_bytes(plan.event_peak()), "228 MB"); // 308 MB with the layers
    EXPECT_NE(plan.peaks_in, "SPNGDNNROI:induction");
    EXPECT_EQ(choose_within(plan, 10 * plan.total(1), 1, 0).network_budget, 0);
}

} // namespace
} // namespace spng
