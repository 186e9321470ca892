// SPDX-License-Identifier: Apache-2.0
#include "spng/device/device_graph.h"

#include <array>
#include <atomic>

namespace spng {
namespace {

std::atomic<DeviceGraphMaker>& maker_for(c10::DeviceType type) {
    static std::array<std::atomic<DeviceGraphMaker>, c10::COMPILE_TIME_MAX_DEVICE_TYPES> makers{};
    return makers.at(static_cast<std::size_t>(type));
}

thread_local bool this_thread_captures = false;

} // namespace

bool is_capturing() {
    return this_thread_captures;
}

CapturingThread::CapturingThread() {
    this_thread_captures = true;
}

CapturingThread::~CapturingThread() {
    this_thread_captures = false;
}

void set_device_graph_maker(c10::DeviceType type, DeviceGraphMaker maker) {
    maker_for(type) = maker;
}

std::unique_ptr<DeviceGraph> make_device_graph(c10::Device device) {
    const DeviceGraphMaker maker = maker_for(device.type());
    return maker == nullptr ? nullptr : maker(device);
}

} // namespace spng
