// SPDX-License-Identifier: Apache-2.0
// Engines on a device: the order of queued work, the waits of the host, and the behaviour when the device is
// lost. The device is one of PrivateUse1 that computes nothing (tests/instrument/fake_device.h).

#include "spng/core/log/log.h"
#include "spng/core/registry.h"
#include "spng/device/lost_device.h"
#include "spng/engine/engine.h"
#include "spng/graph/node.h"
#include "tests/instrument/fake_device.h"

#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <new>
#include <set>

namespace spng {
namespace {

constexpr int events = 5;

/// Log of the nodes' work, in order: "upload 0", "pack 0", "write 0", ...
struct Diary {
    std::mutex mutex;
    std::vector<std::string> lines;
    std::set<c10::StreamId> streams;
    int fails_at = -1;
    std::string loses_at;     ///< line of the log at which a device is lost
    bool loses_other = false; ///< that which does not work on this event
    int short_of_memory = -1; ///< event whose output cannot be completed for lack of memory
    int shortages = 0;        ///< number of times that this happens
    int completed_before = 0; ///< number of outputs of this event that are completed before

    void add(const std::string& what, const TensorSet& set) {
        const std::lock_guard lock(mutex);
        lines.push_back(what + " " + std::to_string(set.event().index));
        const c10::Device device = fake_device::Guard().getDevice();
        if (what.rfind("write", 0) != 0) { // sinks work on the host
            streams.insert(fake_device::Guard().getStream(device).id());
        }
        if (lines.back() == loses_at && fake_device::state().lost_because.empty()) {
            fake_device::lose(loses_other ? 1 - device.index() : device.index(),
                              "CUDA error: unspecified launch failure");
        }
    }
};
Diary& diary() {
    static Diary the_diary;
    return the_diary;
}

TensorSetPtr copy_of(const TensorSet& set) {
    return std::make_shared<const TensorSet>(set.event_ptr(), set.tensors());
}

TensorSetPtr complete(const TensorSet& output) {
    if (static_cast<int>(output.event().index) != diary().short_of_memory) {
        return copy_of(output);
    }
    diary().add("complete", output);
    const std::lock_guard lock(diary().mutex);
    if (--diary().completed_before < 0 && --diary().shortages >= 0) {
        throw std::bad_alloc();
    }
    return copy_of(output);
}

class FlowSource : public NodeWith<NoConfig> {
    Ports process(const Ports&) override {
        if (m_next == events) {
            return {nullptr};
        }
        auto event = std::make_shared<EventInfo>();
        event->index = static_cast<std::uint64_t>(m_next++);
        return {std::make_shared<const TensorSet>(event, std::vector<NamedTensor>{})};
    }
    int m_next = 0;
};

class FlowUpload : public NodeWith<NoConfig> {
    Ports process(const Ports& inputs) override {
        EXPECT_EQ(inputs[0]->completion(), nullptr);
        diary().add("upload", *inputs[0]);
        return inputs;
    }
};

/// The set of an event whose copies are still running.
TensorSetPtr running(const TensorSetPtr& set) {
    const Completion rest{.samples = complete,
                          .findings = [](const TensorSet& all, const auto&) { return copy_of(all); }};
    return std::make_shared<const TensorSet>(set->event_ptr(), set->tensors(), Reports{},
                                             std::make_shared<const Completion>(rest));
}

class FlowPack : public NodeWith<NoConfig> {
    Ports process(const Ports& inputs) override {
        diary().add("pack", *inputs[0]);
        if (static_cast<int>(inputs[0]->event().index) == diary().fails_at) {
            throw Error(ErrorKind::Internal, {.what = "an operation failed"});
        }
        return {running(inputs[0])};
    }
};

/// As FlowPack, for two sinks.
class FlowPackTwo : public NodeWith<NoConfig> {
    Ports process(const Ports& inputs) override {
        diary().add("pack", *inputs[0]);
        return {running(inputs[0]), running(inputs[0])};
    }
};

class FlowSink : public NodeWith<NoConfig> {
    Ports process(const Ports& inputs) override {
        diary().add("write" + name().instance, *inputs[0]);
        return {};
    }
};

ComponentType type(const char* name, std::vector<std::string> inputs, std::vector<std::string> outputs,
                   Concurrency concurrency) {
    return {.type = name,
            .kind = "filter",
            .inputs = std::move(inputs),
            .outputs = std::move(outputs),
            .concurrency = concurrency,
            .text = "test"};
}
const Registration<FlowSource> source_type{type("TestFlowSource", {}, {"n"}, Concurrency::serial)};
const Registration<FlowUpload> upload_type{type("TestFlowUpload", {"n"}, {"n"}, Concurrency::unlimited)};
const Registration<FlowPack> pack_type{type("TestFlowPack", {"n"}, {"n"}, Concurrency::unlimited)};
const Registration<FlowPackTwo> pack_two_type{
    type("TestFlowPackTwo", {"n"}, {"n", "m"}, Concurrency::unlimited)};
const Registration<FlowSink> sink_type{type("TestFlowSink", {"n"}, {}, Concurrency::serial)};

RunOptions skipping() {
    RunOptions options;
    options.skip_failed = true;
    return options;
}

using Edges = std::vector<EdgeConfig>;
const Edges chain{{{"TestFlowSource", 0}, {"TestFlowUpload", 0}},
                  {{"TestFlowUpload", 0}, {"TestFlowPack", 0}},
                  {{"TestFlowPack", 0}, {"TestFlowSink", 0}}};
const Edges two_sinks{{{"TestFlowSource", 0}, {"TestFlowUpload", 0}},
                      {{"TestFlowUpload", 0}, {"TestFlowPackTwo", 0}},
                      {{"TestFlowPackTwo", 0}, {"TestFlowSink:a", 0}},
                      {{"TestFlowPackTwo", 1}, {"TestFlowSink:b", 0}}};
const c10::Device device_0{fake_device::type, 0}, device_1{fake_device::type, 1};

/// A graph over all events on one or two devices.
class DeviceFlow : public testing::TestWithParam<bool> {
protected:
    void SetUp() override { begin(); }
    void TearDown() override { fake_device::state() = {}; }

    /// Forget an earlier run.
    void begin() {
        fake_device::state() = {};
        diary().lines.clear();
        diary().streams.clear();
        diary().fails_at = -1;
        diary().loses_at.clear();
        diary().loses_other = false;
        diary().short_of_memory = -1;
    }

    RunSummary run(c10::Device device = device_0, RunOptions options = {}) {
        return run_on({device}, options);
    }

    RunSummary run_on(const std::vector<c10::Device>& devices, RunOptions options = {},
                      const Edges& edges = chain) {
        Environment environment;
        std::set<std::string> names{"SPNGContext"};
        for (const EdgeConfig& edge : edges) {
            names.insert({edge.tail.node, edge.head.node});
        }
        for (const std::string& name : names) {
            auto component = Registry::instance().make(ComponentName::from(name));
            component->configure(nlohmann::json::object());
            environment.add(std::move(component));
        }
        environment.prepare_all();
        const Graph graph(environment, edges, "test");
        RunState state(options);
        std::vector<Replica> replicas;
        for (const c10::Device device : devices) {
            replicas.emplace_back(graph, device);
        }
        if (GetParam()) {
            run_tbb_flow(replicas, state, {2, 1}, 2);
        } else {
            run_pgrapher(replicas, state, 2);
        }
        return state.finish();
    }

    static std::vector<std::string> written(const std::string& by = "") {
        std::vector<std::string> lines;
        for (const auto& line : diary().lines) {
            if (line.rfind("write" + by + " ", 0) == 0) {
                lines.push_back(line);
            }
        }
        return lines;
    }
};
INSTANTIATE_TEST_SUITE_P(Both, DeviceFlow, testing::Bool(),
                         [](const auto& info) { return info.param ? "TbbFlow" : "Pgrapher"; });

TEST_P(DeviceFlow, TheHostWaitsOncePerEventAndForNothingElse) {
    EXPECT_EQ(run().events_done, 5u);
    EXPECT_EQ(written(), (std::vector<std::string>{"write 0", "write 1", "write 2", "write 3", "write 4"}));
    EXPECT_EQ(fake_device::state().event_waits, events);
    EXPECT_EQ(fake_device::state().stream_waits, 0);
    EXPECT_EQ(fake_device::state().device_waits, 0);
}

TEST_P(DeviceFlow, StreamsAreUsedAgain) {
    run();
    EXPECT_LE(diary().streams.size(), 3u); // two in flight, and one that is being started
}

TEST_P(DeviceFlow, OnTheCpuNothingIsWaitedFor) {
    EXPECT_EQ(run(c10::kCPU).events_done, 5u);
    EXPECT_EQ(fake_device::state().event_waits, 0);
    EXPECT_EQ(fake_device::state().streams_taken, 0);
}

TEST_P(DeviceFlow, NodesBehindThePackingGetCompleteSets) {
    Edges behind{chain.begin(), chain.end() - 1};
    behind.push_back({{"TestFlowPack", 0}, {"TestFlowUpload:behind", 0}});
    behind.push_back({{"TestFlowUpload:behind", 0}, {"TestFlowSink", 0}});
    for (const c10::Device device : {device_0, c10::Device(c10::kCPU)}) {
        begin();
        EXPECT_EQ(run_on({device}, {}, behind).events_done, 5u) << device;
        const auto& lines = diary().lines;
        EXPECT_EQ(std::count(lines.begin(), lines.end(), "upload 3"), 2) << device;
    }
}

TEST_P(DeviceFlow, FailureOfOneEventOnASoundDeviceIsSkipped) {
    diary().fails_at = 1;
    const RunSummary summary = run({fake_device::type, 0}, skipping());
    EXPECT_EQ(summary.events_done, 4u);
    EXPECT_EQ(summary.skipped.size(), 1u);
    EXPECT_FALSE(summary.device_error);
    EXPECT_EQ(fake_device::state().device_waits, 1); // it was asked whether it still works
}

TEST_P(DeviceFlow, LostDeviceEndsTheRunAlsoWhenEventsAreSkipped) {
    fake_device::state().lost_because = "CUDA error: an illegal memory access was encountered\nmore";
    const RunSummary summary = run({fake_device::type, 0}, skipping());
    EXPECT_EQ(summary.events_done, 0u);
    ASSERT_TRUE(summary.device_error);
    EXPECT_EQ(summary.device_error->exit_status(), 1);
    EXPECT_EQ(summary.device_error->text().what, "the device privateuseone:0 stopped working");
    EXPECT_EQ(summary.device_error->text().seen, "CUDA error: an illegal memory access was encountered");
    EXPECT_EQ(summary.device_error->text().where, "copies of the results, event 0");
    // The events that were in flight, not all that were to come.
    EXPECT_LE(summary.skipped.size(), 3u);
    EXPECT_LE(diary().lines.size(), 6u);
}

TEST_P(DeviceFlow, LostDeviceIsTheErrorOfTheRun) {
    fake_device::state().lost_because = "CUDA error: unspecified launch failure";
    try {
        run();
        FAIL() << "no error";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::Device);
        EXPECT_NE(std::string(error.what()).find("unspecified launch failure"), std::string::npos);
    }
    EXPECT_TRUE(written().empty());
}

/// The loss shows when the sink waits for its input, which is not a failure of the sink.
TEST_P(DeviceFlow, EventWhoseDeviceIsLostStartsAgainOnTheOtherOne) {
    for (const char* step : {"upload ", "pack "}) {
        for (int event = 0; event < events; ++event) {
            begin();
            diary().loses_at = step + std::to_string(event);
            const RunSummary summary = run_on({device_0, device_1});
            EXPECT_EQ(summary.events_done, 5u) << diary().loses_at;
            EXPECT_FALSE(summary.device_error);
            EXPECT_EQ(written(),
                      (std::vector<std::string>{"write 0", "write 1", "write 2", "write 3", "write 4"}));
            const auto& lines = diary().lines;
            EXPECT_EQ(std::count(lines.begin(), lines.end(), "pack " + std::to_string(event)), 2);
        }
    }
}

/// The source has not read the event yet, and gives the same one for the other device.
TEST_P(DeviceFlow, LossThatShowsBeforeTheSourceIsCalledCostsNoEvent) {
    for (int event = 0; event < events; ++event) {
        begin();
        fake_device::state().rejects_lost = true;
        diary().loses_at = "upload " + std::to_string(event);
        diary().loses_other = true;
        EXPECT_EQ(run_on({device_0, device_1}).events_done, 5u) << event;
        EXPECT_EQ(written(),
                  (std::vector<std::string>{"write 0", "write 1", "write 2", "write 3", "write 4"}));
    }
}

TEST_P(DeviceFlow, SinksThatHaveAnEventDoNotGetItAgain) {
    for (const char* step : {"pack ", "writea ", "writeb "}) {
        for (int event = 0; event < events; ++event) {
            begin();
            diary().loses_at = step + std::to_string(event);
            EXPECT_EQ(run_on({device_0, device_1}, {}, two_sinks).events_done, 5u) << diary().loses_at;
            EXPECT_EQ(written("a"),
                      (std::vector<std::string>{"writea 0", "writea 1", "writea 2", "writea 3", "writea 4"}));
            EXPECT_EQ(written("b"),
                      (std::vector<std::string>{"writeb 0", "writeb 1", "writeb 2", "writeb 3", "writeb 4"}));
        }
    }
}

TEST_P(DeviceFlow, EventWhoseOutputCannotBeCompletedForLackOfMemoryRestarts) {
    for (int event = 0; event < events; ++event) {
        for (const int shortages : {1, 3}) {
            begin();
            diary().short_of_memory = event;
            diary().shortages = shortages;
            diary().completed_before = 0;
            EXPECT_EQ(run().events_done, 5u) << event;
            EXPECT_EQ(written(),
                      (std::vector<std::string>{"write 0", "write 1", "write 2", "write 3", "write 4"}));
            const auto& lines = diary().lines;
            const std::string which = std::to_string(event);
            EXPECT_EQ(std::count(lines.begin(), lines.end(), "pack " + which), 1 + shortages);
            EXPECT_EQ(std::count(lines.begin(), lines.end(), "complete " + which), 1 + shortages);
        }
    }
}

TEST_P(DeviceFlow, EventThatNeverHasMemoryForItsOutputIsSkippedAfterThreeRestarts) {
    diary().short_of_memory = 1;
    diary().shortages = 100;
    diary().completed_before = 0;
    const RunSummary summary = run(device_0, skipping());
    EXPECT_EQ(summary.events_done, 4u);
    ASSERT_EQ(summary.skipped.size(), 1u);
    EXPECT_NE(summary.skipped[0].reason.find("tried again 3 times"), std::string::npos);
    EXPECT_NE(summary.skipped[0].reason.find("TestFlowPack, event 1"), std::string::npos);
    EXPECT_EQ(written(), (std::vector<std::string>{"write 0", "write 2", "write 3", "write 4"}));
}

/// One sink has the event, or has its input; the other one gets it from the restarted event.
TEST_P(DeviceFlow, ShortageBeforeOneOfTwoSinksCostsNeitherAnEvent) {
    for (int event = 0; event < events; ++event) {
        for (const int completed : {0, 1}) {
            begin();
            diary().short_of_memory = event;
            diary().shortages = 2;
            diary().completed_before = completed;
            EXPECT_EQ(run_on({device_0}, {}, two_sinks).events_done, 5u) << event;
            EXPECT_EQ(written("a"),
                      (std::vector<std::string>{"writea 0", "writea 1", "writea 2", "writea 3", "writea 4"}));
            EXPECT_EQ(written("b"),
                      (std::vector<std::string>{"writeb 0", "writeb 1", "writeb 2", "writeb 3", "writeb 4"}));
        }
    }
}

TEST_P(DeviceFlow, LossOfBothDevicesIsTheErrorOfTheRun) {
    for (int event = 0; event < events; ++event) {
        begin();
        diary().loses_at = "pack " + std::to_string(event);
        const RunSummary summary = run_on({device_0, device_0}, skipping());
        ASSERT_TRUE(summary.device_error) << event;
        EXPECT_EQ(summary.events_done, written().size());
        EXPECT_LE(summary.events_done, static_cast<std::uint64_t>(event));
    }
}

/// A failed wait for the device must not leave it as the current one of the thread.
TEST(LostDevice, TheCurrentDeviceStaysTheSame) {
    fake_device::state() = {};
    fake_device::state().lost_because = "CUDA error: unspecified launch failure\nmore";
    fake_device::state().lost_device = 1;
    EXPECT_EQ(loss_of(device_1), "CUDA error: unspecified launch failure");
    EXPECT_EQ(fake_device::Guard().getDevice(), device_0);
    EXPECT_EQ(loss_of(device_0), std::nullopt);
    EXPECT_EQ(loss_of(c10::kCPU), std::nullopt);
    fake_device::state() = {};
}

TEST(LostDevice, IsFoundAfterTheCapturesOfOtherThreads) {
    fake_device::state() = {};
    fake_device::state().captures = 3;
    EXPECT_EQ(loss_of(device_0), std::nullopt);
    fake_device::state().captures = 3;
    fake_device::state().lost_because = "CUDA error: unspecified launch failure";
    EXPECT_EQ(loss_of(device_0), "CUDA error: unspecified launch failure");
    fake_device::state() = {};
}

std::string printed(const std::function<void()>& work) {
    testing::internal::CaptureStderr();
    work();
    return testing::internal::GetCapturedStderr();
}

TEST(LostDevice, WarningsOfFailedCallsAreCountedAndOthersPrinted) {
    fake_device::state() = {};
    const std::string text = printed([] {
        const DeviceWarnings warnings;
        TORCH_WARN("CUDA warning: unspecified launch failure");
        TORCH_WARN("CUDA warning: unspecified launch failure");
        TORCH_WARN("something else");
    });
    EXPECT_EQ(text.find("Warning: CUDA"), std::string::npos) << text;
    EXPECT_NE(text.find("Warning: something else"), std::string::npos) << text;
    EXPECT_NE(
        text.find("2 warnings of LibTorch about failed CUDA calls; the first: CUDA warning: unspecified "
                  "launch failure"),
        std::string::npos)
        << text;
    EXPECT_NE(printed([] { TORCH_WARN("CUDA warning: later"); }).find("CUDA warning: later"),
              std::string::npos);
}

TEST(LostDevice, WarningsAfterALossAreNotForTheUser) {
    fake_device::state() = {};
    const std::string text = printed([] {
        {
            const DeviceWarnings warnings;
            TORCH_WARN("CUDA warning: unspecified launch failure"); // before anybody has found the loss
            fake_device::state().lost_because = "CUDA error: unspecified launch failure";
            EXPECT_TRUE(loss_of(device_0));
            EXPECT_TRUE(is_known_lost(device_0));
            TORCH_WARN("CUDA warning: unspecified launch failure");
        }
        TORCH_WARN("CUDA warning: unspecified launch failure"); // destructors at the end of the job
    });
    EXPECT_EQ(text, "");
    fake_device::state() = {};
    const DeviceWarnings another_run;
    EXPECT_FALSE(is_known_lost(device_0));
}

TEST_P(DeviceFlow, WarningsOfALostDeviceReachNobody) {
    diary().loses_at = "pack 1";
    EXPECT_EQ(printed([this] {
                  const DeviceWarnings warnings;
                  log::set_level("error");
                  EXPECT_EQ(run_on({device_0, device_1}).events_done, 5u);
                  log::reset();
              }),
              "");
}

TEST_P(DeviceFlow, AWaitRejectedDuringACaptureIsNoLoss) {
    diary().fails_at = 1;
    fake_device::state().captures = 3;
    const RunSummary summary = run({fake_device::type, 0}, skipping());
    EXPECT_FALSE(summary.device_error);
}

/// The serial engine queues the next event before it waits for this one.
TEST_P(DeviceFlow, SerialEngineKeepsTheDeviceBusy) {
    if (GetParam()) {
        GTEST_SKIP() << "the parallel engine's order is not fixed";
    }
    run();
    const std::vector<std::string> lines(diary().lines.begin(), diary().lines.begin() + 7);
    EXPECT_EQ(lines, (std::vector<std::string>{"upload 0", "pack 0", "upload 1", "pack 1", "write 0",
                                               "upload 2", "pack 2"}));
    EXPECT_EQ(diary().streams.size(), 2u);
}

TEST_P(DeviceFlow, SerialEngineOnTheCpuFinishesAnEventBeforeTheNext) {
    if (GetParam()) {
        GTEST_SKIP() << "the parallel engine's order is not fixed";
    }
    run(c10::kCPU);
    const std::vector<std::string> lines(diary().lines.begin(), diary().lines.begin() + 4);
    EXPECT_EQ(lines, (std::vector<std::string>{"upload 0", "pack 0", "write 0", "upload 1"}));
}

} // namespace
} // namespace spng
