// SPDX-License-Identifier: Apache-2.0
// Part "samples": memory and processor time of the process, sampled several times per second, and the processor time
// of all programs of the machine.

#include "profiling/recorder/activity_source.h"
#include "profiling/recorder/process_memory.h"
#include "profiling/recorder/recorder.h"

#include <condition_variable>
#include <cstdio>
#include <fcntl.h>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace spng::recorder {
namespace {

constexpr int machine_period =
    10; // process samples per sample of the machine: /proc/stat of 200 cores takes 1 ms

/// Return the time that the processors of the machine were busy, or taken by other virtual machines [ns]; negative if
/// /proc/stat cannot be read. It counts in ticks of 10 ms.
double machine_cpu_ns() noexcept {
    static const int file = open("/proc/stat", O_RDONLY | O_CLOEXEC);
    static const double tick = 1e9 / static_cast<double>(sysconf(_SC_CLK_TCK));
    char text[256];
    const auto length = pread(file, text, sizeof text - 1, 0);
    text[length > 0 ? length : 0] = '\0';
    long long user = 0, nice = 0, system = 0, interrupt = 0, soft_interrupt = 0, stolen = 0;
    const int found = std::sscanf(text, "cpu %lld %lld %lld %*d %*d %lld %lld %lld", &user, &nice, &system,
                                  &interrupt, &soft_interrupt, &stolen);
    return found == 6 ? tick * static_cast<double>(user + nice + system + interrupt + soft_interrupt + stolen)
                      : -1;
}

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
        const StringId machine = recorder.intern("machine");
        const auto pause = std::chrono::duration<double>(recorder.options().sample_seconds);
        std::mutex mutex;
        std::condition_variable_any wake;
        std::unique_lock lock(mutex);
        const auto add_machine = [&] {
            if (const double busy = machine_cpu_ns(); busy >= 0) {
                recorder.add(SampleRow{now(), machine, cpu, busy});
            }
        };
        int count = 0;
        do {
            if (count++ % machine_period == 0) {
                add_machine();
            }
            const TimePoint time = now();
            recorder.add(
                SampleRow{time, source, resident, static_cast<double>(resident_bytes().value_or(0))});
            recorder.add(
                SampleRow{time, source, cpu, static_cast<double>(clock_ns(CLOCK_PROCESS_CPUTIME_ID))});
        } while (!wake.wait_for(lock, stop, pause, [&] { return stop.stop_requested(); }));
        add_machine();
    }

    std::jthread m_thread;
};

const SourceRegistration<ProcessSamples> registration("samples");

} // namespace
} // namespace spng::recorder
