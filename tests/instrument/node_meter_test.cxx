// SPDX-License-Identifier: Apache-2.0
// Records of calls: times, attribution to event, node and thread, and when the host waits.

#include "spng/instrument/meter/node_meter.h"

#include "fake_device.h"

#include <ATen/Functions.h>
#include <ATen/record_function.h>
#include <c10/core/InferenceMode.h>

#include <gtest/gtest.h>

#include <barrier>
#include <chrono>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace spng::instrument;
using namespace std::chrono_literals;

C10_REGISTER_GUARD_IMPL(PrivateUse1, fake_device::Guard);

constexpr std::int64_t millisecond = 1'000'000;

class Metered : public testing::Test {
protected:
    const c10::InferenceMode m_no_gradients;
    const at::Tensor m_one = at::ones({1});
    NodeMeter m_meter{{"SPNGDecon", "induction", "decon"}};
};

/// Names and depths of the user annotations that observers saw.
std::vector<std::string> annotations;

TEST_F(Metered, NothingOfTheLastRunIsLeftAfterAClear) {
    for (int event = 0; event < 2; ++event) {
        const NodeMeter::Call call(m_meter, 0, c10::kCPU, {});
        m_one.add(1);
    }
    m_meter.clear();
    EXPECT_TRUE(m_meter.calls().empty());
    EXPECT_TRUE(m_meter.operations().empty());
    {
        const NodeMeter::Call call(m_meter, 5, c10::kCPU, {});
        m_one.mul(2);
    }
    ASSERT_EQ(m_meter.calls().size(), 1u);
    EXPECT_EQ(m_meter.calls().front().event, 5u);
    EXPECT_EQ(m_meter.operations(), (std::map<std::string, std::uint64_t>{{"aten::mul", 1}}));
}

TEST_F(Metered, ObserversOfUserScopesSeeEachCallAroundItsOperators) {
    annotations.clear();
    const auto handle = at::addThreadLocalCallback(
        at::RecordFunctionCallback(
            [](const at::RecordFunction& function) -> std::unique_ptr<at::ObserverContext> {
                annotations.emplace_back(function.name());
                return nullptr;
            },
            [](const at::RecordFunction& function, at::ObserverContext*) {
                annotations.push_back(std::string("end ") + function.name());
            })
            .scopes({at::RecordScope::USER_SCOPE, at::RecordScope::FUNCTION}));
    {
        const NodeMeter::Call call(m_meter, 0, c10::kCPU, {});
        m_one.add(1);
    }
    at::removeCallback(handle);
    ASSERT_GE(annotations.size(), 4u);
    EXPECT_EQ(annotations.front(), "SPNGDecon:induction");
    EXPECT_EQ(annotations.at(1), "aten::add");
    EXPECT_EQ(annotations.back(), "end SPNGDecon:induction");
    const std::size_t seen = annotations.size();
    {
        const NodeMeter::Call call(m_meter, 1, c10::kCPU, {});
        EXPECT_FALSE(at::getStepCallbacksUnlessEmpty(at::RecordScope::USER_SCOPE));
    }
    EXPECT_EQ(annotations.size(), seen);
}

TEST_F(Metered, SleepingTakesWallTimeButNoProcessorTime) {
    const auto before = std::chrono::steady_clock::now();
    {
        const NodeMeter::Call call(m_meter, 3, c10::kCPU, {.cpu_clock = CpuClock::Thread});
        std::this_thread::sleep_for(20ms);
    }
    const std::int64_t around = (std::chrono::steady_clock::now() - before) / 1ns;
    const CallRecord record = m_meter.calls().at(0);
    EXPECT_EQ(record.event, 3u);
    EXPECT_GE(record.wall, 20 * millisecond);
    EXPECT_LE(record.wall, around);
    EXPECT_LT(record.cpu, 10 * millisecond);
    EXPECT_GT(record.start, 0);
    EXPECT_EQ(record.device, not_measured);
    EXPECT_EQ(record.device_peak, not_measured);
}

/// Keeps this thread busy until it has used this much processor time.
void compute_for(std::int64_t nanoseconds) {
    const std::int64_t end = cpu_nanoseconds(CpuClock::Thread) + nanoseconds;
    while (cpu_nanoseconds(CpuClock::Thread) < end) {
    }
}

TEST_F(Metered, TheProcessClockSeesHelperThreadsAndTheThreadClockDoesNot) {
    for (const CpuClock clock : {CpuClock::Process, CpuClock::Thread}) {
        const NodeMeter::Call call(m_meter, 0, c10::kCPU, {.cpu_clock = clock});
        std::thread(compute_for, 30 * millisecond).join();
    }
    EXPECT_GE(m_meter.calls().at(0).cpu, 30 * millisecond);
    EXPECT_LT(m_meter.calls().at(1).cpu, 15 * millisecond);
}

TEST_F(Metered, CountsBytesOperationsAndMemory) {
    {
        NodeMeter::Call call(m_meter, 0, c10::kCPU, {});
        call.count_bytes_in(100);
        call.count_bytes_in(20);
        call.count_bytes_out(7);
        const at::Tensor million = at::empty({1'000'000}, at::kByte);
        million.add(million);
    }
    const CallRecord record = m_meter.calls().at(0);
    EXPECT_EQ(record.bytes_in, 120u);
    EXPECT_EQ(record.bytes_out, 7u);
    EXPECT_EQ(record.leaf_operations, 1u);
    EXPECT_EQ(record.cpu_allocated, 2'000'000);
    EXPECT_EQ(record.cpu_peak, 2'000'000);
    EXPECT_FALSE(record.failed);
}

TEST_F(Metered, NestedCallsShareTimeAndMemoryButNotOperations) {
    NodeMeter service({"TorchService", "", "service"});
    {
        const NodeMeter::Call outer(m_meter, 4, c10::kCPU, {});
        m_one.add(m_one);
        {
            const NodeMeter::Call inner(service, 4, c10::kCPU, {});
            EXPECT_EQ(current_call().node->text(), "TorchService");
            at::empty({5'000'000}, at::kByte);
            m_one.add(m_one).add(m_one);
            std::this_thread::sleep_for(5ms);
        }
        EXPECT_EQ(current_call().node->text(), "SPNGDecon:induction");
        EXPECT_EQ(current_call().event, 4u);
    }
    EXPECT_EQ(current_call().node, nullptr);
    const CallRecord outer = m_meter.calls().at(0);
    const CallRecord inner = service.calls().at(0);
    EXPECT_EQ(outer.leaf_operations, 1u);
    EXPECT_EQ(inner.leaf_operations, 2u);
    EXPECT_EQ(outer.depth, 0);
    EXPECT_EQ(inner.depth, 1);
    EXPECT_EQ(outer.nested_wall, inner.wall);
    EXPECT_GE(outer.wall, inner.wall);
    EXPECT_EQ(inner.nested_wall, 0);
    EXPECT_GE(outer.cpu_peak, 5'000'000);
}

TEST_F(Metered, ThreadsKeepTheirEventsApart) {
    constexpr int calls = 50;
    std::barrier both(2);
    const auto work = [&](std::uint64_t first_event, int additions) {
        const c10::InferenceMode no_gradients;
        for (std::uint64_t event = first_event; event < first_event + calls; ++event) {
            both.arrive_and_wait();
            NodeMeter::Call call(m_meter, event, c10::kCPU, {});
            for (int count = 0; count < additions; ++count) {
                m_one.add(m_one);
            }
            at::empty({additions * 1'000'000}, at::kByte);
            call.count_bytes_in(first_event);
        }
    };
    std::thread other(work, 1000, 3);
    work(0, 1);
    other.join();
    const auto records = m_meter.calls();
    ASSERT_EQ(records.size(), 2u * calls);
    for (const auto& record : records) {
        const bool of_other = record.event >= 1000;
        EXPECT_EQ(record.leaf_operations, of_other ? 3u : 1u);
        EXPECT_EQ(record.bytes_in, of_other ? 1000u : 0u);
        EXPECT_GE(record.cpu_peak, of_other ? 3'000'000 : 1'000'000);
        EXPECT_LT(record.cpu_peak, of_other ? 3'100'000 : 1'100'000);
    }
    EXPECT_EQ(m_meter.operations().at("aten::add"), 4u * calls);
}

TEST_F(Metered, FailedCallsAreMarkedAndIdlePollsLeftOut) {
    try {
        const NodeMeter::Call call(m_meter, 0, c10::kCPU, {});
        throw std::runtime_error("bad event");
    } catch (const std::runtime_error&) {
    }
    {
        NodeMeter::Call call(m_meter, 1, c10::kCPU, {});
        call.discard();
    }
    const auto records = m_meter.calls();
    ASSERT_EQ(records.size(), 1u);
    EXPECT_TRUE(records[0].failed);
}

class MeteredOnDevice : public Metered {
protected:
    void SetUp() override { fake_device::state() = {}; }

    void call_of(double milliseconds, MeterMode mode = {}) {
        const NodeMeter::Call call(m_meter, m_event++, m_device, mode);
        fake_device::state().milliseconds += milliseconds;
    }
    const c10::Device m_device{fake_device::type, 0};
    std::uint64_t m_event = 0;
};

TEST_F(MeteredOnDevice, DeviceTimeComesFromEventsWithoutWaitingInTheRun) {
    fake_device::state().complete = false;
    call_of(2);
    fake_device::state().milliseconds += 100; // work between the calls belongs to none
    call_of(3);
    EXPECT_EQ(fake_device::state().event_waits, 0);
    EXPECT_EQ(fake_device::state().stream_waits, 0);
    const auto records = m_meter.calls(); // the end of the run may wait
    EXPECT_EQ(records.at(0).device, 2 * millisecond);
    EXPECT_EQ(records.at(1).device, 3 * millisecond);
}

TEST_F(MeteredOnDevice, EventsAreUsedAgainOnceTheDeviceHasPassedThem) {
    for (int call = 0; call < 20; ++call) {
        call_of(1);
    }
    EXPECT_EQ(fake_device::state().events_made, 2);
    EXPECT_EQ(m_meter.calls().size(), 20u);
    fake_device::state().complete = false;
    call_of(1);
    call_of(1);
    EXPECT_EQ(fake_device::state().events_made, 4);
    for (const auto& record : m_meter.calls()) {
        EXPECT_EQ(record.device, millisecond);
    }
}

TEST_F(MeteredOnDevice, SynchronisingModeWaitsBeforeAndAfter) {
    call_of(1, {.synchronise = true});
    EXPECT_EQ(fake_device::state().stream_waits, 2);
}

TEST_F(MeteredOnDevice, WithoutEventsOrWhileCapturingThereIsNoDeviceTime) {
    call_of(1, {.device_events = false});
    EXPECT_EQ(fake_device::state().events_made, 0);
    fake_device::state().has_events = false;
    call_of(1);
    for (const auto& record : m_meter.calls()) {
        EXPECT_EQ(record.device, not_measured);
    }
}

} // namespace
