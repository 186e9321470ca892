// SPDX-License-Identifier: Apache-2.0
#include "spng/device/event_stream.h"

#include <c10/core/impl/VirtualGuardImpl.h>

#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace spng {
namespace {

/// Streams that were given back, by device. LibTorch's pool would return another one of its 32 streams each
/// time.
class FreeStreams {
public:
    c10::Stream take(c10::Device device) {
        {
            const std::lock_guard lock(m_mutex);
            auto& free = m_free[{device.type(), device.index()}];
            if (!free.empty()) {
                const c10::Stream stream = free.back();
                free.pop_back();
                return stream;
            }
        }
        return c10::impl::VirtualGuardImpl(device.type()).getStreamFromGlobalPool(device);
    }

    void give_back(c10::Stream stream) {
        const std::lock_guard lock(m_mutex);
        m_free[{stream.device_type(), stream.device_index()}].push_back(stream);
    }

private:
    std::mutex m_mutex;
    std::map<std::pair<c10::DeviceType, c10::DeviceIndex>, std::vector<c10::Stream>> m_free;
};

FreeStreams& free_streams() {
    static FreeStreams streams;
    return streams;
}

} // namespace

EventStream::EventStream(c10::Device device) {
    if (!device.is_cpu()) {
        m_stream = free_streams().take(device);
    }
}

EventStream::~EventStream() {
    if (m_stream) {
        free_streams().give_back(*m_stream);
    }
}

EventStream::Guard::Guard(const EventStream& stream) {
    if (stream.m_stream) {
        m_guard.emplace(*stream.m_stream);
    }
}

std::shared_ptr<const c10::Event> EventStream::mark() const {
    if (!m_stream) {
        return nullptr;
    }
    auto event = std::make_shared<c10::Event>(m_stream->device_type());
    event->record(*m_stream);
    return event;
}

void wait_for_current_stream(c10::Device device) {
    if (!device.is_cpu()) {
        const c10::impl::VirtualGuardImpl guard(device.type());
        guard.synchronizeStream(guard.getStream(device));
    }
}

void wait_for_device(c10::Device device) {
    if (!device.is_cpu()) {
        c10::impl::VirtualGuardImpl(device.type()).synchronizeDevice(device.index());
    }
}

} // namespace spng
