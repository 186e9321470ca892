// SPDX-License-Identifier: Apache-2.0
// Times between two points: on the host, on a device with and without waiting, and inside of CUDA graphs.

#include "spng/instrument/user_timer/timing_event.h"

#include "fake_cuda_runtime.h"
#include "spng/core/error.h"
#include "spng/device/cuda_plugin.h"
#include "spng/instrument/control/capture_window.h"
#include "spng/instrument/recording.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <thread>
#include <type_traits>

#if __has_include(<cuda_runtime_api.h>)
#include <cuda_runtime_api.h>
#endif

namespace {

using namespace spng;
using namespace std::chrono_literals;

TEST(TimingEvents, OnTheHostAreTimes) {
    TimingEvent begin(c10::kCPU);
    TimingEvent end(c10::kCPU);
    EXPECT_FALSE(begin.milliseconds_until(end));
    EXPECT_FALSE(begin.is_complete());
    const auto before = std::chrono::steady_clock::now();
    begin.record();
    std::this_thread::sleep_for(5ms);
    end.record();
    const std::chrono::duration<double, std::milli> around = std::chrono::steady_clock::now() - before;
    EXPECT_TRUE(end.is_complete());
    EXPECT_GE(begin.milliseconds_until(end).value(), 5);
    EXPECT_LE(begin.milliseconds_until(end, Wait::no).value(), around.count());
    EXPECT_DOUBLE_EQ(*begin.milliseconds_until(end), -*end.milliseconds_until(begin));
}

class DeviceTimingEvents : public testing::Test {
protected:
    const fake_cuda::Guard m_runtime;
    const c10::Device m_device{fake_device::type, 0};
    TimingEvent m_begin{m_device};
    TimingEvent m_end{m_device};
};

TEST_F(DeviceTimingEvents, WaitOnlyWhenAsked) {
    m_begin.record();
    fake_device::state().milliseconds += 3.5;
    m_end.record();
    fake_device::state().complete = false;
    EXPECT_FALSE(m_begin.milliseconds_until(m_end, Wait::no));
    EXPECT_EQ(fake_device::state().event_waits, 0);
    EXPECT_DOUBLE_EQ(m_begin.milliseconds_until(m_end).value(), 3.5);
    EXPECT_EQ(fake_device::state().event_waits, 1);
    EXPECT_DOUBLE_EQ(m_begin.milliseconds_until(m_end, Wait::no).value(), 3.5);
    EXPECT_EQ(fake_device::state().event_waits, 1);
    EXPECT_EQ(fake_device::state().stream_waits + fake_device::state().device_waits, 0);
}

TEST_F(DeviceTimingEvents, InAGraphHaveTheTimeOfTheLatestLaunch) {
    fake_cuda::state().capturing = true;
    m_begin.record();
    m_end.record();
    fake_cuda::state().capturing = false;
    EXPECT_EQ(fake_cuda::state().captured.size(), 2u);
    EXPECT_EQ(fake_cuda::state().stream, &fake_device::state());
    EXPECT_EQ(fake_device::state().events_made, 0) << "ordinary events must not be used in a capture";
    EXPECT_FALSE(m_begin.milliseconds_until(m_end, Wait::no)) << "not launched yet";
    fake_cuda::launch_graph();
    EXPECT_DOUBLE_EQ(m_begin.milliseconds_until(m_end, Wait::no).value(), 2);
    EXPECT_EQ(fake_cuda::state().event_waits, 0);
    fake_cuda::launch_graph(10);
    EXPECT_DOUBLE_EQ(m_begin.milliseconds_until(m_end).value(), 20);
    EXPECT_EQ(fake_cuda::state().event_waits, 1);
    fake_device::state().complete = false;
    EXPECT_FALSE(m_begin.milliseconds_until(m_end, Wait::no));
}

TEST_F(DeviceTimingEvents, OfWhichOneIsInAGraphAreRejected) {
    m_begin.record();
    fake_cuda::state().capturing = true;
    m_end.record();
    EXPECT_THROW(m_begin.milliseconds_until(m_end), Error);
    m_begin.record(); // again, now in the graph
    EXPECT_FALSE(m_begin.milliseconds_until(m_end, Wait::no));
    TimingEvent host(c10::kCPU);
    host.record();
    EXPECT_THROW(host.milliseconds_until(m_end), Error);
}

TEST_F(DeviceTimingEvents, ReleaseTheirNodes) {
    fake_cuda::state().capturing = true;
    {
        TimingEvent event(m_device);
        event.record();
        event.record();
        EXPECT_EQ(fake_cuda::state().events_alive, 1);
    }
    EXPECT_EQ(fake_cuda::state().events_alive, 0);
}

TEST(CaptureWindows, StartAndStopTheProfiler) {
    const fake_cuda::Guard runtime;
    {
        const CaptureWindow window;
        EXPECT_TRUE(window.is_open());
        EXPECT_EQ(fake_cuda::state().profiler_starts, 1);
        EXPECT_EQ(fake_cuda::state().profiler_stops, 0);
    }
    EXPECT_EQ(fake_cuda::state().profiler_stops, 1);
    fake_cuda::state().accepts_profiler = false;
    {
        const CaptureWindow rejected;
        EXPECT_FALSE(rejected.is_open());
    }
    EXPECT_EQ(fake_cuda::state().profiler_stops, 1);
}

/// The runtime may be loaded nevertheless, by LibTorch.
TEST(CaptureWindows, DoNothingWithoutADevice) {
    if (cuda_device_count() > 0) {
        GTEST_SKIP() << "there is a CUDA device";
    }
    const CaptureWindow window;
    EXPECT_FALSE(window.is_open());
    EXPECT_FALSE(instrument::is_capturing(c10::Device(c10::kCPU)));
}

/// With several events in flight they end in any order, and the next one begins before the last one ends.
TEST(CaptureWindows, CloseAfterTheLastSelectedEventInAnyOrder) {
    const fake_cuda::Guard runtime;
    const instrument::Recording recording({.window = instrument::EventWindow::from_range("1-2", "option")});
    using InFlight = instrument::recording::EventInFlight;
    std::map<std::uint64_t, InFlight> events;
    const auto expect = [](int starts, int stops) {
        EXPECT_EQ(fake_cuda::state().profiler_starts, starts);
        EXPECT_EQ(fake_cuda::state().profiler_stops, stops);
    };
    for (const std::uint64_t event : {0, 1, 2, 3}) {
        events.try_emplace(event, event);
    }
    expect(1, 0);
    events.erase(2);
    expect(1, 0);
    events.erase(1);
    expect(1, 1);
    events.clear();
    const instrument::Recording next({.window = instrument::EventWindow::from_range("0-1", "option")});
    { const InFlight first(0); }
    expect(2, 1); // stays open for event 1
    { const InFlight second(1); }
    expect(2, 2);
    const instrument::Recording of_all_events({});
}

/// Return the messages about two selected events of a run.
std::string said_about_selected_events(instrument::RecordingRequest request = {}) {
    testing::internal::CaptureStderr();
    request.window = instrument::EventWindow::from_range("1-2", "option");
    const instrument::Recording recording(request);
    for (const std::uint64_t event : {0, 1, 2, 3}) {
        const instrument::recording::EventInFlight in_flight(event);
    }
    const instrument::Recording of_all_events({});
    return testing::internal::GetCapturedStderr();
}

/// nsys -c cudaProfilerApi would record nothing.
TEST(CaptureWindows, ReportOnceThatNobodyRecordsTheSelectedEvents) {
    const fake_cuda::Guard runtime;
    EXPECT_EQ(said_about_selected_events(), "");
    fake_cuda::state().accepts_profiler = false;
    EXPECT_EQ(said_about_selected_events(),
              "wire-cell: events are selected, but there is no --record, and nsys -c cudaProfilerApi records "
              "nothing of "
              "a job without CUDA; use --record FILE, or nsys without -c, which records all events\n");
}

#if __has_include(<cuda_runtime_api.h>)
/// Our declarations of the runtime's functions are those of its header, up to opaque pointers and enums.
TEST(CudaRuntimeInterface, IsThatOfTheHeader) {
    // Unevaluated: nothing may link to the runtime.
    using Elapsed = cudaError_t (*)(float*, cudaEvent_t, cudaEvent_t);
    using Record = cudaError_t (*)(cudaEvent_t, cudaStream_t, unsigned);
    using Capturing = cudaError_t (*)(cudaStream_t, cudaStreamCaptureStatus*);
    using OfEvent = cudaError_t (*)(cudaEvent_t);
    static_assert(
        std::is_same_v<decltype(&cudaEventCreateWithFlags), cudaError_t (*)(cudaEvent_t*, unsigned)>);
    static_assert(std::is_same_v<decltype(&cudaEventDestroy), OfEvent>);
    static_assert(std::is_same_v<decltype(&cudaEventQuery), OfEvent>);
    static_assert(std::is_same_v<decltype(&cudaEventSynchronize), OfEvent>);
    static_assert(std::is_same_v<decltype(&cudaEventElapsedTime), Elapsed>);
    static_assert(std::is_same_v<decltype(&cudaEventRecordWithFlags), Record>);
    static_assert(std::is_same_v<decltype(&cudaStreamIsCapturing), Capturing>);
    static_assert(sizeof(cudaError_t) == sizeof(int) && sizeof(cudaStreamCaptureStatus) == sizeof(int));
    static_assert(std::is_pointer_v<cudaEvent_t> && std::is_pointer_v<cudaStream_t>);
    EXPECT_EQ(instrument::cuda_event_record_external, static_cast<unsigned>(cudaEventRecordExternal));
    EXPECT_EQ(instrument::cuda_not_ready, static_cast<int>(cudaErrorNotReady));
    EXPECT_EQ(instrument::cuda_invalid_handle, static_cast<int>(cudaErrorInvalidResourceHandle));
    EXPECT_EQ(0, static_cast<int>(cudaStreamCaptureStatusNone));
}
#endif

} // namespace
