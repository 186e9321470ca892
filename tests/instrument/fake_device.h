#pragma once
// A device of type PrivateUse1 that computes nothing but keeps time: its clock moves when a test says so, and
// its work is complete when a test says so. It shows when the host would have waited, on machines without a
// device.

#include <c10/core/Stream.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>

namespace fake_device {

inline constexpr c10::DeviceType type = c10::DeviceType::PrivateUse1;

struct State {
    double milliseconds = 0; ///< the device's clock
    bool complete = true;    ///< whether it has passed all marks
    bool has_events = true;
    int event_waits = 0;
    int stream_waits = 0;
    int device_waits = 0;
    int events_made = 0;
};

inline State& state() {
    static State the_state;
    return the_state;
}

class Guard final : public c10::impl::DeviceGuardImplInterface {
public:
    c10::DeviceType type() const override { return fake_device::type; }
    c10::Device exchangeDevice(c10::Device) const override { return device(); }
    c10::Device getDevice() const override { return device(); }
    void setDevice(c10::Device) const override {}
    void uncheckedSetDevice(c10::Device) const noexcept override {}
    c10::Stream getStream(c10::Device device) const override {
        return c10::Stream(c10::Stream::DEFAULT, device);
    }
    c10::Stream exchangeStream(c10::Stream stream) const override { return stream; }
    c10::DeviceIndex deviceCount() const noexcept override { return 1; }

    void record(void** event, const c10::Stream&, c10::DeviceIndex, c10::EventFlag flag) const override {
        TORCH_CHECK(state().has_events && flag == c10::EventFlag::BACKEND_DEFAULT, "no timing events");
        if (*event == nullptr) {
            *event = new double;
            ++state().events_made;
        }
        *static_cast<double*>(*event) = state().milliseconds;
    }
    bool queryEvent(void*) const override { return state().complete; }
    void synchronizeEvent(void*) const override {
        ++state().event_waits;
        state().complete = true;
    }
    void synchronizeStream(const c10::Stream&) const override { ++state().stream_waits; }
    void synchronizeDevice(c10::DeviceIndex) const override { ++state().device_waits; }
    void* getStreamNativeHandle(const c10::Stream) const override { return &state(); }
    double elapsedTime(void* begin, void* end, c10::DeviceIndex) const override {
        return *static_cast<double*>(end) - *static_cast<double*>(begin);
    }
    void destroyEvent(void* event, c10::DeviceIndex) const noexcept override {
        delete static_cast<double*>(event);
    }

private:
    static c10::Device device() { return c10::Device(fake_device::type, 0); }
};

} // namespace fake_device
