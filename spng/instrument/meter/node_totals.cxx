// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/meter/node_totals.h"

#include <algorithm>
#include <mutex>
#include <utility>

namespace spng::instrument {
namespace {

struct Known {
    std::mutex mutex;
    std::vector<std::weak_ptr<const NodeTotals>> totals;
};

/// Never destroyed: meters of static objects may end after this library's static objects.
Known& known() {
    static Known* const all = new Known;
    return *all;
}

template <class Number>
void raise(std::atomic<Number>& to, Number value) {
    Number seen = to.load(std::memory_order_relaxed);
    while (seen < value && !to.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
    }
}

} // namespace

void NodeTotals::add(const CallRecord& call) {
    constexpr auto relaxed = std::memory_order_relaxed;
    calls.fetch_add(1, relaxed);
    failed.fetch_add(call.failed ? 1 : 0, relaxed);
    wall.fetch_add(call.wall, relaxed);
    cpu.fetch_add(call.cpu, relaxed);
    bytes_in.fetch_add(call.bytes_in, relaxed);
    bytes_out.fetch_add(call.bytes_out, relaxed);
    leaf_operations.fetch_add(call.leaf_operations, relaxed);
    raise(cpu_peak, call.cpu_peak);
    raise(device_peak, call.device_peak);
}

void NodeTotals::add_device(std::int64_t nanoseconds) {
    if (nanoseconds != not_measured) {
        raise(device, std::int64_t{0});
        device.fetch_add(nanoseconds, std::memory_order_relaxed);
    }
}

std::shared_ptr<NodeTotals> new_totals(const NodeIdentity& node) {
    auto totals = std::make_shared<NodeTotals>(node);
    const std::lock_guard lock(known().mutex);
    std::erase_if(known().totals, [](const auto& one) { return one.expired(); });
    known().totals.push_back(totals);
    return totals;
}

std::vector<std::shared_ptr<const NodeTotals>> all_totals() {
    std::vector<std::shared_ptr<const NodeTotals>> all;
    const std::lock_guard lock(known().mutex);
    for (const auto& one : known().totals) {
        if (auto totals = one.lock()) {
            all.push_back(std::move(totals));
        }
    }
    return all;
}

} // namespace spng::instrument
