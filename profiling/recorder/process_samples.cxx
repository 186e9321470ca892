// SPDX-License-Identifier: Apache-2.0
// Part "samples": memory and processor time of the process, sampled several times per second.

#include "profiling/recorder/activity_source.h"
#include "profiling/recorder/process_memory.h"
#include "profiling/recorder/recorder.h"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace spng::recorder {
namespace {

class ProcessSamples final : public ActivitySource {
public:
    Readiness start(Recorder& recorder) override {
        if (!resident_bytes()) {
            return {false, "/proc/self/statm cannot be read"};
        }
        recorder.declare<SampleRow>();
        m_thread = std::jthread([&recorder](const std::stop_token& stop) { run(stop, recorder); });
        return {};
    }

    void stop(Recorder&) override {
        m_thread.request_stop();
        m_thread.join();
    }

private:
    static void run(const std::stop_token& stop, Recorder& recorder) {
        const StringId source = recorder.intern("process");
        const StringId resident = recorder.intern("resident_bytes");
        const StringId cpu = recorder.intern("cpu_ns");
        const auto pause = std::chrono::duration<double>(recorder.options().sample_seconds);
        std::mutex mutex;
        std::condition_variable_any wake;
        std::unique_lock lock(mutex);
        do {
            const TimePoint time = now();
            recorder.add(
                SampleRow{time, source, resident, static_cast<double>(resident_bytes().value_or(0))});
            recorder.add(
                SampleRow{time, source, cpu, static_cast<double>(clock_ns(CLOCK_PROCESS_CPUTIME_ID))});
        } while (!wake.wait_for(lock, stop, pause, [&] { return stop.stop_requested(); }));
    }

    std::jthread m_thread;
};

const SourceRegistration<ProcessSamples> registration("samples");

} // namespace
} // namespace spng::recorder
