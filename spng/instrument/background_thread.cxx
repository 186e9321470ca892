// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/background_thread.h"

#include <ctime>
#include <mutex>
#include <pthread.h>
#include <vector>

namespace spng::instrument {
namespace {

struct Running {
    pthread_t thread;
    clockid_t clock;
    std::string name;
};

struct Threads {
    std::mutex mutex;
    std::vector<Running> running;
    std::map<std::string, std::int64_t> ended; ///< ns, by name
};

/// Never destroyed: nodes and their threads may end after static objects.
Threads& threads() {
    static auto* const all = new Threads;
    return *all;
}

std::int64_t time_of(clockid_t clock) noexcept {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

} // namespace

BackgroundThread::BackgroundThread(const std::string& name) {
    const pthread_t self = pthread_self();
    pthread_setname_np(self, name.substr(0, 15).c_str());
    clockid_t clock = 0;
    if (pthread_getcpuclockid(self, &clock) == 0) {
        const std::lock_guard lock(threads().mutex);
        threads().running.push_back({self, clock, name});
    }
}

BackgroundThread::~BackgroundThread() {
    const std::lock_guard lock(threads().mutex);
    std::erase_if(threads().running, [](const Running& thread) {
        if (pthread_equal(thread.thread, pthread_self()) == 0) {
            return false;
        }
        threads().ended[thread.name] += time_of(thread.clock);
        return true;
    });
}

std::int64_t background_cpu_nanoseconds() noexcept {
    const std::lock_guard lock(threads().mutex);
    std::int64_t sum = 0;
    for (const auto& thread : threads().running) {
        sum += time_of(thread.clock);
    }
    for (const auto& [name, time] : threads().ended) {
        sum += time;
    }
    return sum;
}

std::map<std::string, std::int64_t> background_cpu_by_name() {
    const std::lock_guard lock(threads().mutex);
    auto times = threads().ended;
    for (const auto& thread : threads().running) {
        times[thread.name] += time_of(thread.clock);
    }
    return times;
}

} // namespace spng::instrument
