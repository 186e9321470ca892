#include "spng/device/event_stream.h"

#include <c10/core/impl/VirtualGuardImpl.h>

namespace spng {

EventStream::EventStream(c10::Device device) {
    if (!device.is_cpu()) {
        m_stream = c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device);
    }
}

EventStream::Guard::Guard(const EventStream& stream) {
    if (stream.m_stream) {
        m_guard.emplace(*stream.m_stream);
    }
}

void wait_for_device(c10::Device device) {
    if (!device.is_cpu()) {
        c10::impl::VirtualGuardImpl(device.type()).synchronizeDevice(device.index());
    }
}

} // namespace spng
