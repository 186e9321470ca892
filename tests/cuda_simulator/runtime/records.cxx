// SPDX-License-Identifier: Apache-2.0
#include "tests/cuda_simulator/runtime/records.h"

#include "tests/cuda_simulator/runtime/log.h"
#include "tests/cuda_simulator/runtime/ranges.h"
#include "tests/cuda_simulator/runtime/settings.h"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

namespace cuda_simulator {
namespace {

/// The log; null if none is asked for. Not closed: the program's libraries may call the runtime until it ends.
FILE* log_file() {
    static FILE* const file = settings().log.empty() ? nullptr : std::fopen(settings().log.c_str(), "w");
    return file;
}

const char* name_of(Kind kind) {
    switch (kind) {
    case Kind::copy_to_device:
        return "copy_to_device";
    case Kind::copy_to_host:
        return "copy_to_host";
    case Kind::copy_on_device:
        return "copy_on_device";
    case Kind::fill:
        return "fill";
    case Kind::transform:
        return "transform";
    default:
        return "kernel";
    }
}

/// Times are ns of CLOCK_MONOTONIC. Names of kernels are mangled, so nothing needs quoting.
void log(const OperationRecord& record) {
    std::fprintf(
        log_file(),
        R"({"kind": "%s", "name": "%s", "device": %d, "stream": %u, "correlation": %u, "thread": %d, )"
        R"("start": %llu, "end": %llu, "bytes": %zu, "grid": [%u, %u, %u], "block": [%u, %u, %u], )"
        R"("shared": %d, "pageable": %s, "graph": %u, "node": %llu, "read": %zu, "written": %zu, "range": "%s"})"
        "\n",
        name_of(record.kind), record.name.c_str(), record.device, record.stream, record.correlation, gettid(),
        static_cast<unsigned long long>(record.start), static_cast<unsigned long long>(record.end),
        record.bytes, record.grid.x, record.grid.y, record.grid.z, record.block.x, record.block.y,
        record.block.z, record.shared_bytes, record.host_is_pageable ? "true" : "false", record.graph,
        static_cast<unsigned long long>(record.graph_node), record.traffic.read, record.traffic.written,
        record.range.c_str());
}

void log(const CallRecord& record) {
    std::fprintf(
        log_file(),
        R"({"kind": "call", "name": "%s", "correlation": %u, "thread": %d, "start": %llu, "end": %llu, )"
        R"("status": %d, "stream": %u, "event": %u, "range": "%s"})"
        "\n",
        record.name, record.correlation, gettid(), static_cast<unsigned long long>(record.start),
        static_cast<unsigned long long>(record.end), record.status, record.stream, record.event,
        current_range().c_str());
}

void log(const MemoryRecord& record) {
    std::fprintf(
        log_file(),
        R"({"kind": "%s", "address": %llu, "bytes": %llu, "device": %d, "page_locked": %s, "time": %llu})"
        "\n",
        record.is_release ? "release" : "allocation", static_cast<unsigned long long>(record.address),
        static_cast<unsigned long long>(record.bytes), record.device,
        record.is_page_locked ? "true" : "false", static_cast<unsigned long long>(record.time));
}

std::uint64_t next_node() {
    static std::uint64_t last = 0;
    return ++last;
}

void record(const MemoryRecord& record) {
    if (log_file() != nullptr) {
        log(record);
    }
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

void record_call(const CallRecord& record) {
    if (log_file() != nullptr) {
        log(record);
    }
    if (state().observer != nullptr) {
        state().observer->call(record);
    }
}

void record_operation(const OperationRecord& record) {
    if (log_file() != nullptr) {
        log(record);
    }
    if (state().observer != nullptr) {
        state().observer->operation(record);
    }
}

void record_traffic(const Launch& launch) {
    const Traffic& traffic = launch.operation.traffic;
    if (log_file() != nullptr && traffic.read + traffic.written > 0) {
        std::fprintf(log_file(),
                     R"({"kind": "traffic", "name": "%s", "read": %zu, "written": %zu, "range": "%s"})"
                     "\n",
                     launch.operation.name.c_str(), traffic.read, traffic.written, launch.range.c_str());
    }
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
