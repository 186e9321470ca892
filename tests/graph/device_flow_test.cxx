// SPDX-License-Identifier: Apache-2.0
// Engines on a device: the order of queued work, the waits of the host, and the behaviour when the device is
// lost. The device is one of PrivateUse1 that computes nothing (tests/instrument/fake_device.h).

#include "spng/core/registry.h"
#include "spng/engine/engine.h"
#include "spng/graph/node.h"
#include "spng/graph/node_mixins.h"
#include "tests/instrument/fake_device.h"

#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <mutex>
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

    void add(const std::string& what, const TensorSet& set) {
        const std::lock_guard lock(mutex);
        lines.push_back(what + " " + std::to_string(set.event().index));
        streams.insert(fake_device::Guard().getStream({fake_device::type, 0}).id());
    }
};
Diary& diary() {
    static Diary the_diary;
    return the_diary;
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
        diary().add("upload", *inputs[0]);
        return inputs;
    }
};

class FlowPack : public NodeWith<NoConfig>, public AsynchronousOutput {
    Ports process(const Ports& inputs) override {
        diary().add("pack", *inputs[0]);
        if (static_cast<int>(inputs[0]->event().index) == diary().fails_at) {
            throw Error(ErrorKind::Internal, {.what = "an operation failed"});
        }
        return inputs;
    }
};

class FlowSink : public NodeWith<NoConfig> {
    Ports process(const Ports& inputs) override {
        diary().add("write", *inputs[0]);
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
const Registration<FlowSink> sink_type{type("TestFlowSink", {"n"}, {}, Concurrency::serial)};

RunOptions skipping() {
    RunOptions options;
    options.skip_failed = true;
    return options;
}

const std::vector<std::string> chain{"TestFlowSource", "TestFlowUpload", "TestFlowPack", "TestFlowSink"};

/// The chain over all events on `device`.
class DeviceFlow : public testing::TestWithParam<bool> {
protected:
    void SetUp() override {
        fake_device::state() = {};
        diary().lines.clear();
        diary().streams.clear();
        diary().fails_at = -1;
        add("SPNGContext", {{"device", "cpu"}});
        for (const auto& name : chain) {
            add(name, nlohmann::json::object());
        }
        m_environment.prepare_all();
    }
    void TearDown() override { fake_device::state() = {}; }

    RunSummary run(c10::Device device = {fake_device::type, 0}, RunOptions options = {}) {
        std::vector<EdgeConfig> edges;
        for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
            edges.push_back({{chain[i], 0}, {chain[i + 1], 0}});
        }
        const Graph graph(m_environment, edges, "test");
        RunState state(options);
        const std::vector<Replica> replicas{{&graph, device}};
        if (GetParam()) {
            run_tbb_flow(replicas, state, 2, 2);
        } else {
            run_pgrapher(replicas, state, 2);
        }
        return state.finish();
    }

    static std::vector<std::string> written() {
        std::vector<std::string> lines;
        for (const auto& line : diary().lines) {
            if (line.rfind("write", 0) == 0) {
                lines.push_back(line);
            }
        }
        return lines;
    }

private:
    void add(const std::string& name, const nlohmann::json& data) {
        auto component = Registry::instance().make({name, ""});
        component->configure(data);
        m_environment.add(std::move(component));
    }
    Environment m_environment;
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
    EXPECT_EQ(summary.device_error->text().where, "TestFlowSink, event 0");
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

TEST_P(DeviceFlow, AWaitRejectedDuringACaptureIsNoLoss) {
    diary().fails_at = 1;
    fake_device::state().lost_because = "CUDA error: operation not permitted when stream is capturing";
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
