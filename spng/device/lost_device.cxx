// SPDX-License-Identifier: Apache-2.0
#include "spng/device/lost_device.h"

#include "spng/core/log/log.h"
#include "spng/device/event_stream.h"

#include <c10/core/impl/VirtualGuardImpl.h>
#include <c10/util/Exception.h>

#include <cstdint>
#include <mutex>
#include <unistd.h>
#include <unordered_set>

namespace spng {
namespace {

/// Return true if waiting failed only because another thread captures a CUDA graph. The device then works.
bool speaks_of_capture(const std::string& text) {
    return text.find("captur") != std::string::npos;
}

/// Handler of LibTorch's warnings in the threads that use devices.
class WarningCounter : public c10::WarningHandler {
public:
    void process(const c10::Warning& warning) override {
        static constexpr const char* of_failed_call = "CUDA warning: "; // C10_CUDA_CHECK_WARN
        if (warning.msg().rfind(of_failed_call, 0) == 0) {
            const std::lock_guard lock(m_mutex);
            if (m_runs > 0) {
                m_first = m_count == 0 ? warning.msg() : m_first;
                ++m_count;
            }
            if (m_runs > 0 || !m_lost.empty()) {
                return;
            }
        }
        c10::WarningHandler::process(warning);
    }

    void run_begins() {
        const std::lock_guard lock(m_mutex);
        if (m_runs++ == 0) {
            m_lost.clear();
        }
    }

    void run_ends() {
        const std::lock_guard lock(m_mutex);
        if (--m_runs > 0 || m_count == 0) {
            return;
        }
        log::line("device", m_lost.empty() ? log::Level::warn : log::Level::info, [this] {
            return std::to_string(m_count) + " warnings of LibTorch about failed CUDA calls" +
                   (m_lost.empty() ? "" : " after the loss of a device") + "; the first: " + m_first;
        });
        m_count = 0;
    }

    void add_lost(c10::Device device) {
        const std::lock_guard lock(m_mutex);
        m_lost.insert(device);
    }

    bool is_lost(c10::Device device) {
        const std::lock_guard lock(m_mutex);
        return m_lost.contains(device);
    }

private:
    std::mutex m_mutex;
    int m_runs = 0;
    std::unordered_set<c10::Device> m_lost; ///< during the present run
    std::uint64_t m_count = 0;
    std::string m_first;
};

WarningCounter& warning_counter() {
    // Never destroyed: static objects of LibTorch warn in their destructors.
    static WarningCounter& counter = *new WarningCounter;
    return counter;
}

/// Restores the current device of the thread: a failed wait leaves the lost device as the current one.
class CurrentDevice {
public:
    explicit CurrentDevice(c10::DeviceType type) : m_guard(type), m_device(m_guard.getDevice()) {}
    ~CurrentDevice() { m_guard.uncheckedSetDevice(m_device); }
    CurrentDevice(const CurrentDevice&) = delete;
    CurrentDevice& operator=(const CurrentDevice&) = delete;

private:
    c10::impl::VirtualGuardImpl m_guard;
    c10::Device m_device;
};

/// Wait for the device.
/// @return the first line of its error, the others are about debugging; empty without an error
std::string failure_of_wait(c10::Device device) {
    try {
        const CurrentDevice current(device.type());
        wait_for_device(device);
        return {};
    } catch (const c10::Error& error) {
        const std::string text = error.what_without_backtrace();
        return text.substr(0, text.find('\n'));
    }
}

} // namespace

DeviceWarnings::DeviceWarnings() {
    include_this_thread();
    warning_counter().run_begins();
}

DeviceWarnings::~DeviceWarnings() {
    warning_counter().run_ends();
}

void DeviceWarnings::include_this_thread() noexcept {
    c10::WarningUtils::set_warning_handler(&warning_counter());
}

std::optional<std::string> loss_of(c10::Device device) {
    if (device.is_cpu()) {
        return std::nullopt;
    }
    // Captures of other threads forbid to wait. They take milliseconds, on a busy machine more, and end at once
    // if the device is lost.
    constexpr int max_tries = 5000;
    for (int tries = 1;; ++tries) {
        const std::string failure = failure_of_wait(device);
        if (failure.empty() || (speaks_of_capture(failure) && tries == max_tries)) {
            return std::nullopt;
        }
        if (!speaks_of_capture(failure)) {
            warning_counter().add_lost(device);
            return failure;
        }
        usleep(2000); // [us]
    }
}

bool is_known_lost(c10::Device device) {
    return warning_counter().is_lost(device);
}

std::optional<Error> lost_device_error(c10::Device device, const Error& failure) {
    const auto reason = loss_of(device);
    if (!reason) {
        return std::nullopt;
    }
    return Error(ErrorKind::Device,
                 {.what = "the device " + device.str() + " stopped working",
                  .where = failure.text().where,
                  .seen = *reason,
                  .expected = "a working device; no further event can be processed",
                  .hint = "the events completed before are in the output; see the system's log for the "
                          "cause (dmesg | grep -i xid, nvidia-smi), then run the rest again"});
}

} // namespace spng
