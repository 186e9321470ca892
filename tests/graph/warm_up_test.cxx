// SPDX-License-Identifier: Apache-2.0
// The warm-up of the chain before the first event: the nodes that are called, their streams, and the nodes
// that are left out.

#include "spng/engine/warm_up.h"

#include "spng/device/fft_plans.h"
#include "spng/graph/device_work.h"
#include "spng/graph/node.h"
#include "tests/instrument/fake_device.h"
#include "tests/support/components.h"

#include <gtest/gtest.h>

#include <set>

namespace spng {
namespace {

TensorSetPtr empty_set() {
    return std::make_shared<const TensorSet>(std::make_shared<const EventInfo>(), std::vector<NamedTensor>{});
}

class WarmSource : public NodeWith<NoConfig> {
    Ports process(const Ports&) override {
        ADD_FAILURE() << "a source was asked for an event";
        return {nullptr};
    }
};

class WarmUpload : public NodeWith<NoConfig>, public DeviceWorkStarter {
public:
    static inline bool knows = true;
    std::vector<TensorSetPtr> example() const override {
        return knows ? std::vector<TensorSetPtr>{empty_set(), empty_set()} : std::vector<TensorSetPtr>{};
    }

private:
    Ports process(const Ports&) override {
        ADD_FAILURE() << "the upload was called";
        return {};
    }
};

class WarmWork : public NodeWith<NoConfig> {
public:
    static inline std::set<c10::StreamId> streams;
    static inline bool fails = false;

private:
    Ports process(const Ports& inputs) override {
        streams.insert(fake_device::Guard().getStream({fake_device::type, 0}).id());
        if (fails) {
            throw Error(ErrorKind::Device, {.what = "no memory"});
        }
        return inputs;
    }
};

/// Sees one event at a time; stands for a tap or a sink.
class WarmSerial : public NodeWith<NoConfig> {
    Ports process(const Ports&) override {
        ADD_FAILURE() << "a node that sees events in order was called";
        return {};
    }
};

const Registration<WarmSource> source_type{
    {.type = "TestWarmSource", .kind = "source", .outputs = {"a"}, .text = "test"}};
const Registration<WarmUpload> upload_type{
    {.type = "TestWarmUpload", .kind = "frame", .inputs = {"a"}, .outputs = {"a", "b"}, .text = "test"}};
const Registration<WarmWork> work_type{
    {.type = "TestWarmWork", .kind = "roi", .inputs = {"a"}, .outputs = {"a"}, .text = "test"}};
const Registration<WarmSerial> serial_type{{.type = "TestWarmSerial",
                                            .kind = "sink",
                                            .inputs = {"a"},
                                            .concurrency = Concurrency::serial,
                                            .text = "test"}};

class WarmUp : public testing::Test {
protected:
    void SetUp() override {
        fake_device::state() = {};
        WarmUpload::knows = true;
        WarmWork::streams.clear();
        WarmWork::fails = false;
        for (const char* name : {"TestWarmSource", "TestWarmUpload", "TestWarmWork:a", "TestWarmWork:b",
                                 "TestWarmSerial:a", "TestWarmSerial:b"}) {
            m_components.add(name, nlohmann::json::object());
        }
        m_components.environment().prepare_all();
        const std::vector<EdgeConfig> edges{{{"TestWarmSource", 0}, {"TestWarmUpload", 0}},
                                            {{"TestWarmUpload", 0}, {"TestWarmWork:a", 0}},
                                            {{"TestWarmUpload", 1}, {"TestWarmWork:b", 0}},
                                            {{"TestWarmWork:a", 0}, {"TestWarmSerial:a", 0}},
                                            {{"TestWarmWork:b", 0}, {"TestWarmSerial:b", 0}}};
        m_graph = std::make_unique<Graph>(m_components.environment(), edges, "test");
    }
    void TearDown() override { fake_device::state() = {}; }

    std::size_t measured_calls() {
        return dynamic_cast<Node*>(m_components.environment().find("TestWarmWork:a"))->meter().calls().size();
    }

    const c10::Device m_device{fake_device::type, 0};
    test::Components m_components;
    std::unique_ptr<Graph> m_graph;
};

TEST_F(WarmUp, RunsBetweenUploadAndSinkOnEveryStreamUnmeasured) {
    EXPECT_GT(warm_up({*m_graph, m_device}, 3), 0);
    EXPECT_EQ(WarmWork::streams.size(), 3u);
    EXPECT_EQ(measured_calls(), 0u);
    EXPECT_EQ(fake_device::state().device_waits, 1);
}

TEST_F(WarmUp, NothingWithoutAnExampleOrADevice) {
    EXPECT_EQ(warm_up({*m_graph, c10::kCPU}, 2), 0);
    EXPECT_TRUE(WarmWork::streams.empty());
    WarmUpload::knows = false;
    EXPECT_EQ(warm_up({*m_graph, m_device}, 2), 0);
    EXPECT_TRUE(WarmWork::streams.empty());
}

TEST_F(WarmUp, FailureIsLeftToTheEvents) {
    WarmWork::fails = true;
    EXPECT_NO_THROW(warm_up({*m_graph, m_device}, 2));
    WarmWork::fails = false;
    auto* node = dynamic_cast<Node*>(m_components.environment().find("TestWarmWork:a"));
    node->call(0, {empty_set()}, {});
    EXPECT_EQ(measured_calls(), 1u); // measuring is on again
}

class FakePlans : public FftPlanCache {
public:
    explicit FakePlans(std::int64_t plans) : m_plans(plans) {}
    std::int64_t size() const override { return m_plans; }
    void set_max(std::int64_t plans) override { most = plans; }
    void clear() override {}
    std::int64_t most = -1;

private:
    std::int64_t m_plans;
};

TEST(FftPlans, AreKeptForTwoShapes) {
    FakePlans plans(9);
    EXPECT_EQ(bound_fft_plans(plans), 18);
    EXPECT_EQ(plans.most, 18);
}

TEST(FftPlans, AreNotBoundWhereNoneWasMade) {
    FakePlans plans(0); // set_max(0) would switch the cache off
    EXPECT_EQ(bound_fft_plans(plans), 0);
    EXPECT_EQ(plans.most, -1);
}

TEST(FftPlans, AreNotThereOnTheCpu) {
    EXPECT_EQ(fft_plan_cache(c10::kCPU), nullptr);
}

} // namespace
} // namespace spng
