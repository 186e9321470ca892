// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda_simulator/runtime/records.h"

#include "tests/cuda_simulator/runtime/log.h"

#include <algorithm>

namespace cuda_simulator {
namespace {

std::uint64_t next_node() {
    static std::uint64_t last = 0;
    return ++last;
}

void record(const MemoryRecord& record) {
    if (state().observer != nullptr) {
        state().observer->memory(record);
    }
}

void record(const GraphNodeRecord& record) {
    if (state().observer != nullptr) {
        state().observer->graph_node(record);
    }
}

} // namespace

CallTarget& call_target() {
    static thread_local CallTarget target;
    return target;
}

void record_allocation(const void* address, std::size_t bytes, int device, bool is_page_locked) {
    record(MemoryRecord{.address = reinterpret_cast<std::uint64_t>(address),
                        .bytes = bytes,
                        .device = std::max(device, 0),
                        .is_page_locked = is_page_locked,
                        .is_release = false,
                        .correlation = current_correlation(),
                        .time = now()});
}

void record_release(const void* address, const Block& block) {
    record(MemoryRecord{.address = reinterpret_cast<std::uint64_t>(address),
                        .bytes = block.bytes,
                        .device = std::max(block.device, 0),
                        .is_page_locked = block.is_on_host,
                        .is_release = true,
                        .correlation = current_correlation(),
                        .time = now()});
}

std::uint64_t record_captured_node() {
    const std::uint64_t node = next_node();
    record(GraphNodeRecord{.node = node});
    return node;
}

std::shared_ptr<Graph> clone_with_records(const Graph& graph) {
    auto clone = std::make_shared<Graph>(graph);
    for (Launch& launch : clone->launches) {
        if (launch.operation.kind != Kind::numbers) {
            const std::uint64_t original = launch.node;
            launch.node = next_node();
            record(GraphNodeRecord{.node = launch.node, .original = original});
        }
    }
    return clone;
}

DeviceLoad device_load(int device) {
    const std::lock_guard lock(state().mutex);
    return {.is_used = state().memory.peak_bytes_of(device) > 0,
            .allocated = state().memory.bytes_of(device),
            .busy = state().busy_time(device)};
}

} // namespace cuda_simulator
