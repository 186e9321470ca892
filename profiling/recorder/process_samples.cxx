// SPDX-License-Identifier: Apache-2.0
// Part "samples": memory and processor time of the process, sampled several times per second.

#include "profiling/recorder/activity_source.h"
#include "profiling/recorder/process_memory.h"
#include "profiling/recorder/recorder.h"

#include <condition_variable>
#include <ctime>
#include <mutex>
#include <thread>

namespace spng::recorder {
namespace {

double process_cpu_ns() {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return 1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec);
}

class ProcessSamples final : public ActivitySource {
public:
    Readiness start(Recorder& recorder) override {
        if (!resident_bytes()) {
            return {false, "/proc/self/statm cannot be read"};
        }
        recorder.declare<SampleRow>();
        m_thread = std::thread([this, &recorder] { run(recorder); });
        return {};
    }

    void stop(Recorder&) override {
        {
            const std::lock_guard lock(m_mutex);
            m_stopping = true;
        }
        m_stop.notify_one();
        m_thread.join();
    }

private:
    void run(Recorder& recorder) {
        const StringId source = recorder.intern("process");
        const StringId resident = recorder.intern("resident_bytes");
        const StringId cpu = recorder.intern("cpu_ns");
        const auto pause = std::chrono::duration<double>(recorder.options().sample_seconds);
        std::unique_lock lock(m_mutex);
        do {
            const TimePoint time = now();
            recorder.add(
                SampleRow{time, source, resident, static_cast<double>(resident_bytes().value_or(0))});
            recorder.add(SampleRow{time, source, cpu, process_cpu_ns()});
        } while (!m_stop.wait_for(lock, pause, [this] { return m_stopping; }));
    }

    std::mutex m_mutex;
    std::condition_variable m_stop;
    bool m_stopping = false;
    std::thread m_thread;
};

const SourceRegistration registration{
    {"samples", true, [] { return std::unique_ptr<ActivitySource>(std::make_unique<ProcessSamples>()); }}};

} // namespace
} // namespace spng::recorder
