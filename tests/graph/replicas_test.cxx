// SPDX-License-Identifier: Apache-2.0
// Several devices in one job, and events that begin again when memory runs out. Two replicas on the CPU replace
// two devices.

#include "spng/device/process_owner.h"
#include "spng/engine/replicas.h"

#include "spng/device/device_list.h"
#include "spng/engine/body/run_state.h"
#include "spng/graph/node.h"
#include "spng/instrument/report/run_report.h"
#include "spng/job/job.h"
#include "tests/support/components.h"

#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <thread>

namespace spng::test {
namespace {

using Json = nlohmann::json;

/// Calls and events that the nodes below saw in one job.
struct Seen {
    std::mutex mutex;
    std::map<const Node*, int> calls;        ///< of each copy of TestWork
    std::map<std::uint64_t, int> tries;      ///< calls of the copies of TestWork:a, by event
    std::vector<std::uint64_t> tapped, sunk; ///< events in the order in which they came
    std::vector<std::int64_t> results;
    int sources_asked = 0;
    std::set<std::uint64_t> holding; ///< events that hold memory
    std::size_t max_holding = 0, max_after_failure = 0;
    bool has_failed = false;
} seen;

class TestReplicaSource : public NodeWith<NoConfig> {
public:
    static inline int events = 6;

private:
    Ports process(const Ports&) override {
        ++seen.sources_asked;
        if (m_next == events) {
            return {nullptr};
        }
        auto event = std::make_shared<EventInfo>();
        event->index = static_cast<std::uint64_t>(m_next);
        NamedTensor tensor;
        tensor.name = "number";
        tensor.data = at::full({1}, m_next++, at::kLong);
        return {std::make_shared<const TensorSet>(event, std::vector{tensor})};
    }
    int m_next = 0;
};

struct WorkConfig {
    int fails_on = -1;
    int fails = 0;
    std::string how = "device";
    int fits = 0;
    int takes = 0;
    static constexpr auto fields() {
        using C = WorkConfig;
        return std::make_tuple(
            field(&C::fails_on, "fails_on", "", any(), "event for which memory runs out; -2: all"),
            field(&C::fails, "fails", "", any(), "how often it does"),
            field(&C::how, "how", "", one_of("device", "cpu", "new", "other"), "kind of the exception"),
            field(&C::fits, "fits", "", any(), "events at a time for which memory suffices; 0: all"),
            field(&C::takes, "takes", "ms", any(), "how long a call takes"));
    }
};
/// Adds one. Memory may run out, as asked for, or when too many events hold some.
class TestWork : public NodeWith<WorkConfig> {
    Ports process(const Ports& inputs) override {
        const std::uint64_t event = inputs[0]->event().index;
        bool is_too_much = false;
        {
            const std::lock_guard lock(seen.mutex);
            ++seen.calls[this];
            if (name().instance == "a") {
                const int tried = ++seen.tries[event];
                const bool concerned =
                    config().fails_on == -2 || config().fails_on == static_cast<int>(event);
                is_too_much = concerned && tried <= config().fails;
                seen.holding.insert(event);
                is_too_much |= config().fits > 0 && static_cast<int>(seen.holding.size()) > config().fits;
                if (is_too_much) {
                    seen.holding.erase(event);
                    seen.has_failed = true;
                }
                seen.max_holding = std::max(seen.max_holding, seen.holding.size());
            }
        }
        if (is_too_much) {
            run_out();
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(config().takes));
        if (name().instance == "b") {
            const std::lock_guard lock(seen.mutex);
            seen.holding.erase(event);
        }
        NamedTensor tensor = inputs[0]->only();
        tensor.data = tensor.data.add(1);
        return {std::make_shared<const TensorSet>(inputs[0]->event_ptr(), std::vector{tensor})};
    }

    [[noreturn]] void run_out() const {
        const c10::SourceLocation here{"TestWork", __FILE__, __LINE__};
        if (config().how == "device") {
            throw c10::OutOfMemoryError(here, "CUDA out of memory. Tried to allocate 2.00 GiB.");
        }
        if (config().how == "cpu") {
            throw c10::Error(here, "[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to "
                                   "allocate 61440000 bytes. Error code 12 (Cannot allocate memory)");
        }
        if (config().how == "new") {
            throw std::bad_alloc();
        }
        throw Error(ErrorKind::Input, {.what = "not for want of memory"});
    }
};

class TestTap : public NodeWith<NoConfig> {
    Ports process(const Ports& inputs) override {
        seen.tapped.push_back(inputs[0]->event().index);
        return inputs;
    }
};

class TestSink : public NodeWith<NoConfig> {
    Ports process(const Ports& inputs) override {
        seen.sunk.push_back(inputs[0]->event().index);
        seen.results.push_back(inputs[0]->only().data.const_data_ptr<std::int64_t>()[0]);
        return {};
    }
};

const Registration<TestReplicaSource> source_registration{{.type = "TestReplicaSource",
                                                           .kind = "source",
                                                           .outputs = {"n"},
                                                           .concurrency = Concurrency::serial,
                                                           .text = "test"}};
const Registration<TestWork> work_registration{
    {.type = "TestWork", .kind = "filter", .inputs = {"n"}, .outputs = {"n"}, .text = "test"}};
const Registration<TestTap> tap_registration{{.type = "TestTap",
                                              .kind = "plumbing",
                                              .inputs = {"n"},
                                              .outputs = {"n"},
                                              .concurrency = Concurrency::serial,
                                              .is_tap = true,
                                              .text = "test"}};
const Registration<TestSink> sink_registration{{.type = "TestSink",
                                                .kind = "sink",
                                                .inputs = {"n"},
                                                .concurrency = Concurrency::serial,
                                                .text = "test"}};

Json edge(const std::string& tail, const std::string& head) {
    return {{"tail", {{"node", tail}}}, {"head", {{"node", head}}}};
}

/// source -> c -> tap -> a -> b -> sink: a tap in the middle, whose calls cannot be taken back.
Json job_of(const std::string& engine, const std::string& devices, Json work = Json::object(),
            int events_in_flight = 2) {
    return {{{"type", "TestReplicaSource"}},
            {{"type", "TestWork"}, {"name", "c"}},
            {{"type", "TestTap"}},
            {{"type", "TestWork"}, {"name", "a"}, {"data", std::move(work)}},
            {{"type", "TestWork"}, {"name", "b"}},
            {{"type", "TestSink"}},
            {{"type", "SPNGContext"}, {"data", {{"device", devices}}}},
            {{"type", engine},
             {"data",
              {{"events_in_flight", events_in_flight},
               {"edges",
                {edge("TestReplicaSource", "TestWork:c"), edge("TestWork:c", "TestTap"),
                 edge("TestTap", "TestWork:a"), edge("TestWork:a", "TestWork:b"),
                 edge("TestWork:b", "TestSink")}}}}}};
}

struct Ran {
    RunSummary summary;
    Json settings;
    Json report;
};

Ran run(const Json& components, int events = 6, bool skip = false) {
    seen.calls.clear();
    seen.tries.clear();
    seen.tapped.clear();
    seen.sunk.clear();
    seen.results.clear();
    seen.holding.clear();
    seen.sources_asked = 0;
    seen.max_holding = 0;
    seen.has_failed = false;
    TestReplicaSource::events = events;
    RunOptions options;
    options.graph_threads = 4;
    options.skip_failed = skip;
    Job job(components, "test.jsonnet");
    job.prepare(options);
    Ran ran{job.run(options), job.settings(options), {}};
    instrument::RunDescription description;
    description.devices = job.devices();
    ran.report = instrument::RunReport(description, job.meters()).json();
    return ran;
}

std::vector<std::uint64_t> first(std::uint64_t count) {
    std::vector<std::uint64_t> events;
    for (std::uint64_t i = 0; i < count; ++i) {
        events.push_back(i);
    }
    return events;
}

class Replicas : public testing::TestWithParam<std::tuple<const char*, const char*>> {
protected:
    static std::string engine() { return std::get<0>(GetParam()); }
    static std::string devices() { return std::get<1>(GetParam()); }
    static std::size_t replicas() { return listed_devices(devices(), "").size(); }
};
INSTANTIATE_TEST_SUITE_P(All, Replicas,
                         testing::Combine(testing::Values("Pgrapher", "TbbFlow"),
                                          testing::Values("cpu", "cpu,cpu", "cpu,cpu,cpu")));

TEST_P(Replicas, everyEventArrivesOnceAndInOrder) {
    const Ran ran = run(job_of(engine(), devices(), {{"takes", 2}}), 12);
    EXPECT_EQ(ran.summary.events_done, 12U);
    EXPECT_EQ(seen.tapped, first(12));
    EXPECT_EQ(seen.sunk, first(12));
    for (std::size_t i = 0; i < seen.results.size(); ++i) {
        EXPECT_EQ(seen.results[i], static_cast<std::int64_t>(i) + 3);
    }
    EXPECT_EQ(ran.settings.at("device"), devices());
    // Three nodes in each replica, and each replica had its share.
    EXPECT_EQ(seen.calls.size(), 3 * replicas());
    for (const auto& [node, calls] : seen.calls) {
        EXPECT_GE(calls, 2);
    }
}

TEST_P(Replicas, reportsHaveOneRowForEachName) {
    const Ran ran = run(job_of(engine(), devices()), 7);
    ASSERT_EQ(ran.report.at("nodes").size(), 6U);
    EXPECT_EQ(ran.report.at("run").at("device"), devices());
    EXPECT_EQ(ran.report.at("run").at("events"), 7);
    for (const auto& node : ran.report.at("nodes")) {
        EXPECT_EQ(node.at("calls"), 7) << node.at("name");
        EXPECT_EQ(node.at("per_device").size(), node.at("type") == "TestWork" ? replicas() : 1U);
        int calls = 0;
        for (const auto& share : node.at("per_device")) {
            calls += share.at("calls").get<int>();
        }
        EXPECT_EQ(calls, 7);
    }
}

TEST_P(Replicas, anEventThatFailsIsLeftOutInItsPlace) {
    const Ran ran =
        run(job_of(engine(), devices(), {{"fails_on", 3}, {"fails", 1}, {"how", "other"}}), 6, true);
    EXPECT_EQ(ran.summary.events_done, 5U);
    ASSERT_EQ(ran.summary.skipped.size(), 1U);
    EXPECT_EQ(ran.summary.skipped[0].index, 3U);
    EXPECT_EQ(seen.tries[3], 1); // only what may succeed is tried again
    EXPECT_EQ(seen.sunk, (std::vector<std::uint64_t>{0, 1, 2, 4, 5}));
    const Error error = error_of(
        [&] { run(job_of(engine(), devices(), {{"fails_on", 3}, {"fails", 1}, {"how", "other"}}), 6); });
    EXPECT_EQ(error.text().what, "not for want of memory");
    EXPECT_EQ(seen.sunk, first(3));
}

TEST_P(Replicas, anEventThatRanOutOfMemoryBeginsAgain) {
    for (const char* how : {"device", "cpu", "new"}) {
        for (int fails = 1; fails <= 3; ++fails) {
            const Ran ran =
                run(job_of(engine(), devices(), {{"fails_on", 2}, {"fails", fails}, {"how", how}}));
            EXPECT_EQ(ran.summary.events_done, 6U);
            EXPECT_TRUE(ran.summary.skipped.empty());
            EXPECT_EQ(seen.tries[2], fails + 1);
            EXPECT_EQ(seen.tries[4], 1);
            // Sources, taps and sinks were not called twice, and everything is as if nothing had happened.
            EXPECT_EQ(seen.sources_asked, 7);
            EXPECT_EQ(seen.tapped, first(6));
            EXPECT_EQ(seen.sunk, first(6));
            EXPECT_EQ(seen.results, (std::vector<std::int64_t>{3, 4, 5, 6, 7, 8}));
        }
    }
}

TEST_P(Replicas, afterThreeTriesThereIsOneClearError) {
    const Json job = job_of(engine(), devices(), {{"fails_on", 2}, {"fails", 9}});
    const Error error = error_of([&] { run(job); });
    EXPECT_EQ(seen.tries[2], 4);
    EXPECT_EQ(error.exit_status(), 1);
    EXPECT_EQ(error.text().what, "out of device memory");
    EXPECT_EQ(error.text().where, "TestWork:a, event 2");
    EXPECT_EQ(error.text().seen, "CUDA out of memory. Tried to allocate 2.00 GiB.");
    for (const char* part : {"tried again 3 times", "free on cpu: ", "planned: 0 an event x "}) {
        EXPECT_NE(error.text().expected.find(part), std::string::npos) << error.text().expected;
    }
    EXPECT_NE(error.text().hint.find("memory_budget"), std::string::npos);
    EXPECT_EQ(seen.sunk, first(2));

    const Ran ran = run(job, 6, true);
    EXPECT_EQ(ran.summary.events_done, 5U);
    ASSERT_EQ(ran.summary.skipped.size(), 1U);
    EXPECT_EQ(ran.summary.skipped[0].index, 2U);
    EXPECT_EQ(seen.sunk, (std::vector<std::uint64_t>{0, 1, 3, 4, 5}));
}

TEST_P(Replicas, everyEventMayRunOutOfMemory) {
    const Ran ran = run(job_of(engine(), devices(), {{"fails_on", -2}, {"fails", 2}}, 4), 9);
    EXPECT_EQ(ran.summary.events_done, 9U);
    EXPECT_EQ(seen.tapped, first(9));
    EXPECT_EQ(seen.sunk, first(9));
}

/// Memory that suffices for one event only, and four that want some at the same time.
TEST(Memory, eventsComeOneByOneWhereItSufficesForOne) {
    own_process(); // as wire-cell: threads for all events, also with few cores
    const Ran ran = run(job_of("TbbFlow", "cpu", {{"fits", 1}, {"takes", 3}}, 4), 20);
    EXPECT_EQ(ran.summary.events_done, 20U);
    EXPECT_TRUE(ran.summary.skipped.empty());
    EXPECT_TRUE(seen.has_failed); // else nothing was tested
    EXPECT_EQ(seen.max_holding, 1U);
    EXPECT_EQ(seen.sunk, first(20));
    for (std::uint64_t event = 8; event < 20; ++event) {
        EXPECT_EQ(seen.tries[event], 1) << event; // it has learnt
    }
}

TEST(ReplicaQueues, theShortestIsServed) {
    ReplicaQueues queues(3, 2);
    EXPECT_EQ(queues.take(), 0U);
    EXPECT_EQ(queues.take(), 1U);
    EXPECT_EQ(queues.take(), 2U);
    queues.give_back(1);
    EXPECT_EQ(queues.take(), 1U);
    queues.give_back(2);
    queues.give_back(2 - 1);
    EXPECT_EQ(queues.take(), 2U); // among equals the one that had fewer
    EXPECT_EQ(queues.take(), 1U);
}

TEST(ReplicaQueues, aReplicaThatIsLostGetsNothing) {
    ReplicaQueues queues(2, 1);
    EXPECT_EQ(queues.take(), 0U);
    queues.lose(0);
    EXPECT_EQ(queues.take(), 1U);
    EXPECT_EQ(queues.move_from(0), 1U); // beyond its usual limit
    EXPECT_FALSE(queues.none_is_left());
    std::thread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        queues.lose(1);
    });
    EXPECT_EQ(queues.take(), std::nullopt); // wakes up when there is nothing to wait for any more
    later.join();
    EXPECT_TRUE(queues.none_is_left());
    EXPECT_EQ(queues.move_from(1), std::nullopt);
}

TEST(ReplicaQueues, restrictedToOne) {
    ReplicaQueues queues(1, 3);
    queues.restrict_to_one(0);
    EXPECT_EQ(queues.take(), 0U);
    std::thread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        queues.give_back(0);
    });
    EXPECT_EQ(queues.take(), 0U);
    later.join();
}

TEST(DeviceList, lists) {
    const auto listed = [](const std::string& text) { return listed_devices(text, "here"); };
    EXPECT_EQ(listed("cpu"), (std::vector<std::string>{"cpu"}));
    EXPECT_EQ(listed("cpu, cpu"), (std::vector<std::string>{"cpu", "cpu"}));
    EXPECT_EQ(listed("cuda:1,gpu2"), (std::vector<std::string>{"cuda:1", "gpu2"}));
    EXPECT_EQ(listed("cuda:all"), (std::vector<std::string>{"cuda:all"}));
    for (const char* wrong : {"", ",", "cpu,", "cpu,,cpu", "cpu,cuda:0", "auto,auto", "auto,cpu"}) {
        EXPECT_EQ(error_of([&] { listed(wrong); }).exit_status(), 2) << wrong;
    }
    EXPECT_EQ(replica_devices("cpu,cpu", "here").size(), 2U);
}

TEST(DeviceList, aJobRejectsDevicesOfDifferentKinds) {
    const Error error = error_of([] { Job job(job_of("TbbFlow", "cpu,cuda:0"), "test.jsonnet"); });
    EXPECT_EQ(error.exit_status(), 2);
    EXPECT_NE(error.text().where.find("SPNGContext, key device"), std::string::npos);
}

} // namespace
} // namespace spng::test
