// SPDX-License-Identifier: Apache-2.0
#include "spng/job/job.h"

#include "spng/graph/node.h"

#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <chrono>
#include <mutex>
#include <thread>

namespace spng {
namespace {

/// Counts up to `events`, one number per event, and can fail on one of them.
struct CountConfig {
    int events = 3;
    static constexpr auto fields() {
        return std::make_tuple(field(&CountConfig::events, "events", "", at_least(0), "events"));
    }
};
class TestCount : public NodeWith<CountConfig> {
    Ports process(const Ports&) override {
        if (m_next == config().events) {
            return {nullptr};
        }
        auto event = std::make_shared<EventInfo>();
        event->index = m_next;
        NamedTensor tensor;
        tensor.name = "number";
        tensor.data = at::full({1}, m_next++, at::kLong);
        return {std::make_shared<const TensorSet>(event, std::vector{tensor})};
    }
    int m_next = 0;
};

/// Adds one; the later the event the faster, so that unordered engines would deliver out of order.
struct AddConfig {
    int fails_at = -1;
    bool writes_into_input = false;
    static constexpr auto fields() {
        return std::make_tuple(
            field(&AddConfig::fails_at, "fails_at", "", any(), "event that fails"),
            field(&AddConfig::writes_into_input, "writes_into_input", "", any(), "misbehave"));
    }
};
class TestAdd : public NodeWith<AddConfig> {
    Ports process(const Ports& inputs) override {
        NamedTensor tensor = inputs[0]->only();
        const auto value = tensor.data.const_data_ptr<std::int64_t>()[0];
        if (static_cast<int>(inputs[0]->event().index) == config().fails_at) {
            throw Error(ErrorKind::Input, {.what = "cannot add"});
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(value % 2 == 0 ? 6 : 0));
        tensor.data = at::full({1}, value + 1, at::kLong);
        return {std::make_shared<const TensorSet>(inputs[0]->event_ptr(), std::vector{tensor})};
    }
};

/// Remembers what arrived, in order, and whether it was finished.
class TestCollect : public NodeWith<NoConfig> {
public:
    static inline std::vector<std::int64_t> numbers;
    static inline bool finished = false;
    void finish() override { finished = true; }

private:
    Ports process(const Ports& inputs) override {
        numbers.push_back(inputs[0]->only().data.const_data_ptr<std::int64_t>()[0]);
        return {};
    }
};

const Registration<TestCount> count_registration{{.type = "TestCount",
                                                  .kind = "source",
                                                  .outputs = {"n"},
                                                  .concurrency = Concurrency::serial,
                                                  .text = "test"}};
const Registration<TestAdd> add_registration{
    {.type = "TestAdd", .kind = "filter", .inputs = {"n"}, .outputs = {"n"}, .text = "test"}};
const Registration<TestCollect> collect_registration{{.type = "TestCollect",
                                                      .kind = "sink",
                                                      .inputs = {"n"},
                                                      .concurrency = Concurrency::serial,
                                                      .text = "test"}};

using Json = nlohmann::json;

Json edge(const std::string& tail, const std::string& head, int tail_port = 0, int head_port = 0) {
    return {{"tail", {{"node", tail}, {"port", tail_port}}}, {"head", {{"node", head}, {"port", head_port}}}};
}

/// count -> add:a -> add:b -> collect
Json line(const std::string& engine, Json add_data = Json::object(), int events = 8) {
    return {{{"type", "TestCount"}, {"data", {{"events", events}}}},
            {{"type", "TestAdd"}, {"name", "a"}, {"data", std::move(add_data)}},
            {{"type", "TestAdd"}, {"name", "b"}},
            {{"type", "TestCollect"}},
            {{"type", "SPNGContext"}, {"data", {{"device", "cpu"}}}},
            {{"type", engine},
             {"data",
              {{"edges",
                {edge("TestCount", "TestAdd:a"), edge("TestAdd:a", "TestAdd:b"),
                 edge("TestAdd:b", "TestCollect")}}}}}};
}

RunSummary run(const Json& components, RunOptions options = {}) {
    TestCollect::numbers.clear();
    TestCollect::finished = false;
    Job job(components, "test.jsonnet");
    job.prepare(options);
    return job.run(options);
}

ErrorText rejection(const Json& components) {
    try {
        Job job(components, "test.jsonnet");
    } catch (const Error& error) {
        EXPECT_EQ(error.exit_status(), 2);
        return error.text();
    }
    ADD_FAILURE() << "accepted";
    return {};
}

class Engines : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Both, Engines, testing::Values("Pgrapher", "TbbFlow"));

TEST_P(Engines, EveryEventArrivesInInputOrder) {
    RunOptions options;
    options.graph_threads = 4;
    const auto summary = run(line(GetParam()), options);
    EXPECT_EQ(TestCollect::numbers, (std::vector<std::int64_t>{2, 3, 4, 5, 6, 7, 8, 9}));
    EXPECT_EQ(summary.events_done, 8u);
    EXPECT_TRUE(TestCollect::finished);
}

TEST_P(Engines, FirstFailureEndsTheRunAndKeepsWhatWasBefore) {
    try {
        run(line(GetParam(), {{"fails_at", 3}}));
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.exit_status(), 1);
        EXPECT_EQ(error.text().what, "cannot add");
        EXPECT_EQ(error.text().where, "TestAdd:a, event 3");
    }
    EXPECT_EQ(TestCollect::numbers, (std::vector<std::int64_t>{2, 3, 4}));
    EXPECT_TRUE(TestCollect::finished);
}

TEST_P(Engines, FailedEventsCanBeSkipped) {
    RunOptions options;
    options.skip_failed = true;
    const auto summary = run(line(GetParam(), {{"fails_at", 3}}), options);
    EXPECT_EQ(TestCollect::numbers, (std::vector<std::int64_t>{2, 3, 4, 6, 7, 8, 9}));
    EXPECT_EQ(summary.events_done, 7u);
    ASSERT_EQ(summary.skipped.size(), 1u);
    EXPECT_EQ(summary.skipped[0].index, 3u);
}

TEST_P(Engines, StopSignalEndsTheRun) {
    const std::atomic<int> signal{2};
    RunOptions options;
    options.stop_signal = &signal;
    const auto summary = run(line(GetParam()), options);
    EXPECT_EQ(summary.stopped_by, 2);
    EXPECT_TRUE(TestCollect::numbers.empty());
    EXPECT_TRUE(TestCollect::finished);
}

TEST(Job, CallsAreMeteredOncePerEvent) {
    TestCollect::numbers.clear();
    Job job(line("Pgrapher"), "test.jsonnet");
    job.prepare({});
    job.run({});
    for (auto* meter : job.meters()) {
        EXPECT_EQ(meter->calls().size(), 8u) << meter->identity().text();
    }
}

TEST(Job, UnconnectedPortIsRejected) {
    Json components = line("Pgrapher");
    components.back()["data"]["edges"].erase(2);
    const auto text = rejection(components);
    EXPECT_EQ(text.what, "a port is not connected");
    EXPECT_NE(text.where.find("output port 0 ('n')"), std::string::npos) << text.where;
}

TEST(Job, DoublyConnectedPortIsRejected) {
    Json components = line("Pgrapher");
    components.back()["data"]["edges"].push_back(edge("TestAdd:a", "TestCollect"));
    EXPECT_EQ(rejection(components).what, "a port is connected twice");
}

TEST(Job, CircleIsRejected) {
    Json components = line("Pgrapher");
    components.back()["data"]["edges"] = {edge("TestAdd:a", "TestAdd:b"), edge("TestAdd:b", "TestAdd:a"),
                                          edge("TestCount", "TestCollect")};
    const auto text = rejection(components);
    EXPECT_EQ(text.what, "the graph has a cycle");
    EXPECT_NE(text.seen.find("TestAdd:a, TestAdd:b"), std::string::npos) << text.seen;
}

TEST(Job, UnknownNodePortAndTypeNameTheNearest) {
    Json components = line("Pgrapher");
    components.back()["data"]["edges"][0] = edge("TestCount", "TestAdd:c");
    EXPECT_NE(rejection(components).hint.find("TestAdd:"), std::string::npos);
    components.back()["data"]["edges"][0] = edge("TestCount", "TestAdd:a", 0, 1);
    EXPECT_EQ(rejection(components).seen, "port 1");
    components = line("Pgrapher");
    components[1]["type"] = "TestAddd";
    EXPECT_EQ(rejection(components).hint, "did you mean 'TestAdd'?");
}

TEST(Job, TwoComponentsOfOneNameAreRejected) {
    Json components = line("Pgrapher");
    components.insert(components.begin(), components[1]);
    EXPECT_EQ(rejection(components).what, "two components are called 'TestAdd:a'");
}

TEST(Job, MissingGraphAndUnknownApplicationAreRejected) {
    Json components = line("Pgrapher");
    components.erase(components.size() - 1);
    EXPECT_EQ(rejection(components).what, "the configuration has no graph to run");
    EXPECT_THROW(Job(line("Pgrapher"), "test.jsonnet", "Pgraper"), Error);
    EXPECT_NO_THROW(Job(line("Pgrapher"), "test.jsonnet", "TbbFlow"));
}

} // namespace
} // namespace spng
