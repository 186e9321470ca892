// SPDX-License-Identifier: Apache-2.0
// Timing of a piece of code: its activities with kind, thread and device, and their printed form.

#include "spng/instrument/user_timer/activity_timing.h"

#include "fake_cuda_runtime.h"
#include "spng/core/error.h"
#include "spng/instrument/clock.h"

#include <ATen/Functions.h>
#include <c10/core/InferenceMode.h>
#include <torch/library.h>

#include <gtest/gtest.h>

#include <numeric>
#include <thread>

namespace {

using namespace spng;

at::Tensor double_it(const at::Tensor& input) {
    return at::add(input, input);
}

TORCH_LIBRARY_FRAGMENT(spng, library) {
    library.def("activity_test_double(Tensor input) -> Tensor");
}
TORCH_LIBRARY_IMPL(spng, CPU, library) {
    library.impl("activity_test_double", &double_it);
}

at::Tensor own_kernel(const at::Tensor& input) {
    static const auto operation = c10::Dispatcher::singleton()
                                      .findSchemaOrThrow("spng::activity_test_double", "")
                                      .typed<at::Tensor(const at::Tensor&)>();
    return operation.call(input);
}

using Names = std::vector<std::string>;

Names names(const std::vector<TimingResult>& results) {
    Names all;
    for (const auto& result : results) {
        all.push_back(result.name);
    }
    return all;
}

class ActivityTiming : public testing::Test {
protected:
    /// One activity of each kind that the CPU has, each with views and allocations around it.
    void work() {
        own_kernel(m_ones.view({2, 3}));
        at::mm(m_ones.view({2, 3}), m_ones.view({3, 2}));
        m_target.copy_(m_ones);
        m_target.zero_();
    }

    const c10::InferenceMode m_no_gradients;
    const at::Tensor m_ones = at::ones({6});
    at::Tensor m_target = at::empty({6});
};

TEST_F(ActivityTiming, SeesEachKindOnTheCpu) {
    const std::int64_t before = instrument::wall_nanoseconds();
    timing_begin();
    work();
    const auto results = timing_end();
    const double around = 1e-6 * static_cast<double>(instrument::wall_nanoseconds() - before);
    EXPECT_EQ(names(results), (Names{"spng::activity_test_double", "aten::mm", "memcpy HtoH", "memset"}));
    const std::vector<ActivityFilter> kinds{timing_kernel, timing_kernel_library, timing_memcpy,
                                            timing_memset};
    double sum = 0;
    double previous_end = 0;
    for (std::size_t i = 0; i < results.size(); ++i) {
        EXPECT_EQ(results[i].kind, kinds[i]);
        EXPECT_EQ(results[i].device, "cpu");
        EXPECT_GT(results[i].elapsed, 0);
        EXPECT_GE(results[i].begin, previous_end) << "they ran one after the other";
        previous_end = results[i].begin + results[i].elapsed - 1e-9;
        sum += results[i].elapsed;
    }
    EXPECT_LE(sum, around);
}

TEST_F(ActivityTiming, FiltersByKind) {
    const auto with = [this](ActivityFilter filter) {
        timing_begin(filter);
        work();
        return names(timing_end());
    };
    EXPECT_EQ(with(timing_kernel), Names{"spng::activity_test_double"});
    EXPECT_EQ(with(timing_kernel_library), Names{"aten::mm"});
    EXPECT_EQ(with(timing_memcpy | timing_memset), (Names{"memcpy HtoH", "memset"}));
    EXPECT_EQ(with(timing_graph), Names{});
    EXPECT_EQ(with(timing_none), Names{});
}

TEST_F(ActivityTiming, Nests) {
    timing_begin(timing_memset);
    m_target.zero_();
    timing_begin(timing_all);
    m_target.copy_(m_ones);
    m_target.zero_();
    EXPECT_EQ(names(timing_end()), (Names{"memcpy HtoH", "memset"}));
    m_target.zero_();
    const auto outer = timing_end();
    EXPECT_EQ(names(outer), (Names{"memset", "memset", "memset"}));
    EXPECT_THROW(timing_end(), Error);
    m_target.zero_(); // is not timed any more, and nothing listens
}

TEST_F(ActivityTiming, LeavesOutOtherThreads) {
    timing_begin();
    std::thread([this] {
        const c10::InferenceMode no_gradients;
        m_target.zero_();
        EXPECT_THROW(timing_end(), Error) << "begins and ends belong to one thread";
    }).join();
    EXPECT_TRUE(timing_end().empty());
}

class DeviceActivityTiming : public ActivityTiming {
protected:
    ~DeviceActivityTiming() override { set_activity_provider(nullptr); }

    /// A launch that keeps the device busy.
    void launch(const char* name, ActivityFilter kind, double milliseconds) {
        const ActivityScope scope(name, kind, m_device);
        fake_device::state().milliseconds += milliseconds;
    }

    const fake_cuda::Guard m_runtime;
    const c10::Device m_device{fake_device::type, 0};
};

TEST_F(DeviceActivityTiming, TakesTimesFromEventsAndWaitsAtTheEndOnly) {
    timing_begin();
    launch("first", timing_kernel, 2.5);
    fake_device::state().milliseconds += 100; // between the two
    launch("graph", timing_graph, 7);
    fake_device::state().complete = false;
    EXPECT_EQ(fake_device::state().event_waits, 0);
    const auto results = timing_end();
    EXPECT_GT(fake_device::state().event_waits, 0);
    EXPECT_EQ(names(results), (Names{"first", "graph"}));
    EXPECT_DOUBLE_EQ(results[0].elapsed, 2.5);
    EXPECT_DOUBLE_EQ(results[1].elapsed, 7);
    EXPECT_EQ(results[0].device, m_device.str());
}

TEST_F(DeviceActivityTiming, UsesNoEventsInACapture) {
    timing_begin();
    fake_cuda::state().capturing = true;
    launch("captured", timing_kernel, 5);
    fake_cuda::state().capturing = false;
    const auto results = timing_end();
    EXPECT_EQ(names(results), Names{"captured"});
    EXPECT_LT(results[0].elapsed, 5) << "the time of issuing it";
    EXPECT_EQ(fake_device::state().events_made + fake_device::state().event_waits, 0);
    EXPECT_TRUE(fake_cuda::state().captured.empty());
}

/// Returns the activities of the fake device.
class Provider final : public ActivityProvider {
public:
    bool covers(c10::DeviceType device) const override { return device == fake_device::type; }
    std::vector<TimingResult> activities(std::int64_t since, std::int64_t until) override {
        EXPECT_LT(since, until);
        return {{"late kernel", "fake", timing_kernel_library, 1e6, 0.5},
                {"early copy", "fake", timing_memcpy, -1, 0.25},
                {"fill", "fake", timing_memset, 0, 0.125}};
    }
};

TEST_F(DeviceActivityTiming, AProviderReplacesEvents) {
    set_activity_provider(std::make_shared<Provider>());
    timing_begin(timing_all & ~timing_memset);
    launch("by events", timing_kernel, 1);
    m_target.copy_(m_ones);
    const auto results = timing_end();
    EXPECT_EQ(names(results), (Names{"early copy", "memcpy HtoH", "late kernel"}));
}

TEST_F(DeviceActivityTiming, WithoutTimingAScopeMakesNoEvents) {
    launch("unseen", timing_kernel, 1);
    EXPECT_EQ(fake_device::state().events_made, 0);
}

TEST(ActivityReport, HasTimelineAndTotals) {
    std::string text;
    timing_print({{"memset", "cuda:0", timing_memset, 0, 0.021504},
                  {"aten::mm", "cuda:0", timing_kernel_library, 1, 0.16384},
                  {"aten::mm", "cuda:1", timing_kernel_library, 2, 2}},
                 "  ", [&](const std::string& part) { text += part; });
    EXPECT_EQ(text, "  Timeline:\n"
                    "  ----------------+--------+-------------------------\n"
                    "  Time            | Device | Activity\n"
                    "  ----------------+--------+-------------------------\n"
                    "      0.021504 ms | cuda:0 | memset\n"
                    "      0.163840 ms | cuda:0 | aten::mm\n"
                    "      2.000000 ms | cuda:1 | aten::mm\n"
                    "\n"
                    "  Activity summary:\n"
                    "  ----------------+-------+-------------------------\n"
                    "  Total time      | Count | Activity\n"
                    "  ----------------+-------+-------------------------\n"
                    "      2.163840 ms | 2     | aten::mm\n"
                    "      0.021504 ms | 1     | memset\n"
                    "\n"
                    "  Device summary:\n"
                    "  ----------------+-------+-------------------------\n"
                    "  Total time      | Count | Device\n"
                    "  ----------------+-------+-------------------------\n"
                    "      2.000000 ms | 1     | cuda:1\n"
                    "      0.185344 ms | 2     | cuda:0\n");
    text.clear();
    timing_print({}, "", [&](const std::string& part) { text += part; });
    EXPECT_EQ(text, "No activity.\n");
}

} // namespace
