// SPDX-License-Identifier: Apache-2.0
// Timing on a real CUDA device; skipped without one. The same rules are tested without one in
// timing_event_test.cxx and activity_timing_test.cxx.

#include "spng/device/cuda_plugin.h"
#include "spng/device/event_stream.h"
#include "spng/instrument/cuda_runtime.h"
#include "spng/instrument/user_timer/scoped_timer.h"
#include "spng/instrument/user_timer/timing_event.h"

#include <ATen/Functions.h>
#include <c10/core/InferenceMode.h>

#include <gtest/gtest.h>

#include <dlfcn.h>

namespace {

using namespace spng;

/// The functions of the CUDA runtime that a capture needs and the library does not use.
struct GraphFunctions {
    int (*begin_capture)(void* stream, int mode) = nullptr;
    int (*end_capture)(void* stream, void** graph) = nullptr;
    int (*instantiate)(void** executable, void* graph, unsigned long long flags) = nullptr;
    int (*launch)(void* executable, void* stream) = nullptr;

    GraphFunctions() {
        void* library = dlopen("libcudart.so.13", RTLD_NOW | RTLD_NOLOAD);
        if (library == nullptr) {
            library = dlopen("libcudart.so.12", RTLD_NOW | RTLD_NOLOAD);
        }
        const auto take = [library](const char* name, auto& function) {
            function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
        };
        take("cudaStreamBeginCapture", begin_capture);
        take("cudaStreamEndCapture", end_capture);
        take("cudaGraphInstantiate", instantiate);
        take("cudaGraphLaunch", launch);
    }
};

class CudaTiming : public testing::Test {
protected:
    void SetUp() override {
        if (cuda_device_count() == 0) {
            GTEST_SKIP() << "no CUDA device";
        }
        load_cuda_plugin();
        m_matrix = at::ones({2048, 2048}, at::TensorOptions(m_device));
        m_product = at::mm(m_matrix, m_matrix);
        wait_for_device(m_device);
    }

    void multiply(int times) {
        for (int i = 0; i < times; ++i) {
            at::mm_out(m_product, m_matrix, m_matrix);
        }
    }

    const c10::InferenceMode m_no_gradients;
    const c10::Device m_device{c10::DeviceType::CUDA, 0};
    at::Tensor m_matrix;
    at::Tensor m_product;
};

TEST_F(CudaTiming, SectionsTakeTheTimeOfTheDevice) {
    TimingEvent begin(m_device);
    TimingEvent end(m_device);
    begin.record();
    multiply(200);
    end.record();
    EXPECT_FALSE(begin.milliseconds_until(end, Wait::no)) << "the host is ahead of the device";
    const double many = begin.milliseconds_until(end).value();
    begin.record();
    multiply(20);
    end.record();
    EXPECT_GT(many, 2 * begin.milliseconds_until(end).value());
}

TEST_F(CudaTiming, TimersShowEachKindAndWaitWhenAsked) {
    at::Tensor host = at::empty({2048, 2048});
    ScopedTimer timer("cuda",
                      {.print = false, .synchronize = true, .device = m_device, .filter = timing_all});
    multiply(3);
    m_product.zero_();
    host.copy_(m_product);
    const auto& result = timer.stop();
    std::vector<std::string> names;
    double sum = 0;
    for (const auto& activity : result.activities) {
        EXPECT_EQ(activity.device, "cuda:0");
        EXPECT_GT(activity.elapsed, 0);
        names.push_back(activity.name);
        sum += activity.elapsed;
    }
    EXPECT_EQ(names, (std::vector<std::string>{"aten::mm", "aten::mm", "aten::mm", "memset", "memcpy DtoH"}));
    EXPECT_LE(sum, result.elapsed);
}

TEST_F(CudaTiming, EventsInAGraphHaveTheTimeOfItsLaunch) {
    const GraphFunctions graphs;
    const EventStream stream(m_device);
    const EventStream::Guard on_stream(stream);
    void* const handle = instrument::current_cuda_stream(m_device).handle;
    TimingEvent begin(m_device);
    TimingEvent end(m_device);
    multiply(1); // workspaces are made before the capture
    wait_for_device(m_device);

    constexpr int thread_local_mode = 1;
    ASSERT_EQ(graphs.begin_capture(handle, thread_local_mode), 0);
    EXPECT_TRUE(instrument::is_capturing(m_device));
    begin.record();
    multiply(10);
    end.record();
    void* graph = nullptr;
    ASSERT_EQ(graphs.end_capture(handle, &graph), 0);
    EXPECT_FALSE(instrument::is_capturing(m_device));
    EXPECT_FALSE(begin.milliseconds_until(end, Wait::no)) << "captured and not launched";

    void* executable = nullptr;
    ASSERT_EQ(graphs.instantiate(&executable, graph, 0), 0);
    for (int launch = 0; launch < 2; ++launch) {
        ASSERT_EQ(graphs.launch(executable, handle), 0);
        wait_for_device(m_device);
        EXPECT_GT(begin.milliseconds_until(end).value(), 0);
    }
}

} // namespace
