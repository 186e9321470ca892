// SPDX-License-Identifier: Apache-2.0
#pragma once
// A device of type PrivateUse1 that computes nothing but keeps time: tests move its clock
// and complete its work. It shows when the host would have waited, on machines without a
// device.

#include <c10/core/Stream.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <utility>

namespace fake_device {

inline constexpr c10::DeviceType type = c10::DeviceType::PrivateUse1;

/// A value that threads change. Can be copied, so that tests can reset the state.
template <class T>
class Shared {
public:
    Shared(T value) : m_value(value) {} // NOLINT(google-explicit-constructor): used as a T
    Shared(const Shared& other) : m_value(other.m_value.load()) {}
    Shared& operator=(const Shared& other) {
        m_value = other.m_value.load();
        return *this;
    }
    operator T() const { return m_value; } // NOLINT(google-explicit-constructor)
    void operator++() { ++m_value; }
    /// Lower a positive count by one, and return true.
    bool take() {
        T value = m_value;
        while (value > 0 && !m_value.compare_exchange_weak(value, value - 1)) {
        }
        return value > 0;
    }

private:
    std::atomic<T> m_value;
};

/// Tests change the other members while no thread uses the device.
struct State {
    double milliseconds = 0;      ///< the device's clock
    Shared<bool> complete = true; ///< whether it has passed all marks
    bool has_events = true;
    Shared<int> event_waits = 0;
    Shared<int> stream_waits = 0;
    Shared<int> device_waits = 0;
    Shared<int> events_made = 0;
    Shared<int> streams_taken = 0; ///< from the device's pool
    std::string lost_because{};    ///< not empty: a device is lost, and waiting for it fails with this
    int lost_device = -1;          ///< the lost device; -1: each
    Shared<int> captures = 0;      ///< number of waits for a device that fail because of a capture
    bool rejects_lost = false;     ///< a lost device cannot become the current one
};

inline State& state() {
    static State the_state;
    return the_state;
}

inline std::mutex& loss_mutex() {
    static std::mutex mutex;
    return mutex;
}

/// Lose a device while threads use it.
inline void lose(int device, const std::string& reason) {
    const std::lock_guard lock(loss_mutex());
    state().lost_device = device;
    state().lost_because = reason;
}

class Guard final : public c10::impl::DeviceGuardImplInterface {
public:
    c10::DeviceType type() const override { return fake_device::type; }
    c10::Device exchangeDevice(c10::Device device) const override {
        const c10::Device before = getDevice();
        setDevice(device);
        return before;
    }
    c10::Device getDevice() const override { return {fake_device::type, current_index()}; }
    void setDevice(c10::Device device) const override {
        if (state().rejects_lost) {
            require_working(device.index());
        }
        current_index() = device.index();
    }
    void uncheckedSetDevice(c10::Device device) const noexcept override { current_index() = device.index(); }
    c10::Stream getStream(c10::Device device) const override { return current(device.index()); }
    c10::Stream exchangeStream(c10::Stream stream) const override {
        return std::exchange(current(stream.device_index()), stream);
    }
    c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override {
        static std::atomic<int> latest = 0; // of the process, as a device's streams are
        ++state().streams_taken;
        return c10::Stream(c10::Stream::UNSAFE, device, ++latest);
    }
    c10::DeviceIndex deviceCount() const noexcept override { return devices; }

    void record(void** event, const c10::Stream& stream, c10::DeviceIndex,
                c10::EventFlag flag) const override {
        const bool timing = flag == c10::EventFlag::BACKEND_DEFAULT;
        TORCH_CHECK(state().has_events || !timing, "no timing events");
        if (*event == nullptr) {
            *event = new Mark;
            ++state().events_made;
        }
        *static_cast<Mark*>(*event) = {state().milliseconds, timing, stream.device_index()};
    }
    bool queryEvent(void*) const override { return state().complete; }
    void synchronizeEvent(void* event) const override {
        ++state().event_waits;
        require_working(static_cast<Mark*>(event)->device);
        state().complete = true;
    }
    void synchronizeStream(const c10::Stream&) const override { ++state().stream_waits; }
    void synchronizeDevice(c10::DeviceIndex device) const override {
        ++state().device_waits;
        if (state().captures.take()) {
            TORCH_CHECK(false, "CUDA error: operation not permitted when stream is capturing");
        }
        current_index() = device; // as on CUDA, it stays the current one if the wait fails
        require_working(device);
        current_index() = 0;
    }
    void* getStreamNativeHandle(const c10::Stream) const override { return &state(); }
    double elapsedTime(void* begin, void* end, c10::DeviceIndex) const override {
        const auto& first = *static_cast<Mark*>(begin);
        const auto& last = *static_cast<Mark*>(end);
        TORCH_CHECK(first.has_time && last.has_time, "marks without a time");
        return last.milliseconds - first.milliseconds;
    }
    void destroyEvent(void* event, c10::DeviceIndex) const noexcept override {
        if (!works(static_cast<Mark*>(event)->device)) {
            TORCH_WARN("CUDA warning: ", state().lost_because);
        }
        delete static_cast<Mark*>(event);
    }

private:
    struct Mark {
        double milliseconds;
        bool has_time;
        c10::DeviceIndex device;
    };
    static constexpr c10::DeviceIndex devices = 2;

    static bool works(int device) {
        const std::lock_guard lock(loss_mutex());
        return state().lost_because.empty() || (state().lost_device >= 0 && state().lost_device != device);
    }
    static void require_working(int device) { TORCH_CHECK(works(device), state().lost_because); }
    static c10::DeviceIndex& current_index() {
        static thread_local c10::DeviceIndex index = 0;
        return index;
    }
    static c10::Stream& current(c10::DeviceIndex device) {
        const auto first = [](c10::DeviceIndex index) {
            return c10::Stream(c10::Stream::DEFAULT, c10::Device(fake_device::type, index));
        };
        static thread_local std::array<c10::Stream, devices> streams{first(0), first(1)};
        return streams.at(static_cast<std::size_t>(device));
    }
};

} // namespace fake_device
