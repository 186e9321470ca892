// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/device_timer.h"

#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>

namespace spng::instrument {
namespace {

c10::Stream current_stream(c10::Device device) {
    return c10::impl::VirtualGuardImpl(device.type()).getStream(device);
}

} // namespace

void wait_for_current_stream(c10::Device device) {
    current_stream(device).synchronize();
}

DeviceSpan::DeviceSpan(c10::Device device)
    : m_device(device), m_begin(device.type(), c10::EventFlag::BACKEND_DEFAULT),
      m_end(device.type(), c10::EventFlag::BACKEND_DEFAULT) {}

void DeviceSpan::begin() {
    m_stream = current_stream(m_device);
    m_begin.record(*m_stream);
}

void DeviceSpan::end() {
    m_end.record(*m_stream);
}

bool DeviceSpan::is_complete() const {
    return m_end.query();
}

void DeviceSpan::wait() const {
    m_end.synchronize();
}

std::int64_t DeviceSpan::nanoseconds() const {
    return static_cast<std::int64_t>(m_begin.elapsedTime(m_end) * 1e6);
}

std::unique_ptr<DeviceSpan> DeviceSpanPool::take(c10::Device device) {
    const auto found = std::find_if(m_free.begin(), m_free.end(),
                                    [device](const auto& span) { return span->device() == device; });
    if (found == m_free.end()) {
        return std::make_unique<DeviceSpan>(device);
    }
    auto span = std::move(*found);
    m_free.erase(found);
    return span;
}

void DeviceSpanPool::give_back(std::unique_ptr<DeviceSpan> span) {
    m_free.push_back(std::move(span));
}

} // namespace spng::instrument
