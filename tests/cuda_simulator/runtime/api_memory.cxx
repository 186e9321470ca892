// SPDX-License-Identifier: Apache-2.0
// Memory, copies and fills.

#include "tests/cuda_simulator/runtime/call.h"
#include "tests/cuda_simulator/runtime/operators.h"
#include "tests/cuda_simulator/runtime/settings.h"

#include <algorithm>
#include <cstring>

using namespace cuda_simulator;

namespace {

constexpr std::uint32_t poison = 0x7ffadead;

bool is_on_device(const Block* block) {
    return block != nullptr && !block->is_on_host;
}

/// Rows of a copy; a copy without pitches is one row.
struct Rows {
    std::size_t width, height = 1, target_pitch = 0, source_pitch = 0;
};

/// Queue a copy. Copies of pageable memory are done before the call returns, as CUDA may do them.
cudaError_t copy(const char* name, void* target, const void* source, Rows rows, cudaStream_t handle,
                 bool waits) {
    const Block* const to = state().memory.find(target);
    const Block* const from = state().memory.find(source);
    const bool is_pageable = to == nullptr || from == nullptr;
    Stream& stream = state().stream_of(handle);
    if (stream.capture && (is_pageable || waits)) {
        stream.capture->broken_by = name;
        return cudaErrorStreamCaptureUnsupported;
    }
    const std::size_t span_to = rows.target_pitch * (rows.height - 1) + rows.width;
    const std::size_t span_from = rows.source_pitch * (rows.height - 1) + rows.width;
    auto* const target_bytes = static_cast<char*>(state().memory.host_address(target));
    const auto* const source_bytes = static_cast<const char*>(state().memory.host_address(source));
    if (!is_on_device(to) && !stream.capture && !settings().is_bare) {
        // A host that does not wait for the copy reads this.
        for (std::size_t row = 0; row < rows.height; ++row) {
            char* const begin = target_bytes + row * rows.target_pitch;
            for (std::size_t at = 0; at < rows.width; at += sizeof poison) {
                std::memcpy(begin + at, &poison, std::min(sizeof poison, rows.width - at));
            }
        }
    }
    const Kind kind = !is_on_device(to)     ? Kind::copy_to_host
                      : !is_on_device(from) ? Kind::copy_to_device
                                            : Kind::copy_on_device;
    const std::size_t bytes = rows.width * rows.height;
    const bool is_computed = kind == Kind::copy_on_device && is_computed_by_operator();
    const auto move_rows = [=] {
        for (std::size_t row = 0; row < rows.height; ++row) {
            std::memmove(target_bytes + row * rows.target_pitch, source_bytes + row * rows.source_pitch,
                         rows.width);
        }
    };
    state().enqueue(
        stream, {.operation = {.kind = kind,
                               .name = name,
                               .accesses = {{source, span_from, false}, {target, span_to, true}},
                               .compute = is_computed ? nullptr : std::function<void()>(move_rows),
                               .bytes = bytes,
                               .traffic = kind == Kind::copy_on_device ? Traffic{bytes, bytes} : Traffic{}},
                 .host_is_pageable = is_pageable});
    if (is_pageable || waits) {
        count_wait(name);
        state().wait_for(stream, stream.queued, stream.clock);
    }
    return cudaSuccess;
}

cudaError_t fill(const char* name, void* target, int value, std::size_t bytes, cudaStream_t handle) {
    Stream& stream = state().stream_of(handle);
    void* const begin = state().memory.host_address(target);
    const auto set_bytes = [=] { std::memset(begin, value, bytes); };
    state().enqueue(
        stream,
        {.operation = {.kind = Kind::fill,
                       .name = name,
                       .accesses = {{target, bytes, true}},
                       .compute = is_computed_by_operator() ? nullptr : std::function<void()>(set_bytes),
                       .bytes = bytes,
                       .traffic = {.written = bytes}}});
    return cudaSuccess;
}

} // namespace

CUDA_SIMULATOR_API cudaError_t cudaMalloc(void** address, size_t bytes) {
    load_operators();
    return call("cudaMalloc_v3020", thread_state().device, InCapture::forbidden, [=] {
        const int device = thread_state().device;
        const std::uint64_t index = state().allocations++;
        if (state().memory.bytes_of(device) + bytes > settings().memory_bytes ||
            static_cast<long>(index) == settings().rejected_allocation) {
            return cudaErrorMemoryAllocation;
        }
        *address = state().memory.add(bytes, device, false);
        if (*address == nullptr) {
            return cudaErrorMemoryAllocation;
        }
        record_allocation(*address, bytes, device, false);
        return cudaSuccess;
    });
}

CUDA_SIMULATOR_API cudaError_t cudaFree(void* address) {
    if (address == nullptr) {
        return cudaSuccess;
    }
    return call("cudaFree_v3020", thread_state().device, InCapture::forbidden, [=] {
        const Block* const block = state().memory.find(address);
        if (block == nullptr) {
            return cudaErrorInvalidValue;
        }
        state().wait_for_device(block->device);
        record_release(address, *block);
        state().memory.remove(address);
        return cudaSuccess;
    });
}

CUDA_SIMULATOR_API cudaError_t cudaHostAlloc(void** address, size_t bytes, unsigned) {
    return call("cudaHostAlloc_v3020", thread_state().device, InCapture::forbidden, [=] {
        *address = state().memory.add(bytes, -1, true);
        if (*address == nullptr) {
            return cudaErrorMemoryAllocation;
        }
        record_allocation(*address, bytes, thread_state().device, true);
        return cudaSuccess;
    });
}

CUDA_SIMULATOR_API cudaError_t cudaFreeHost(void* address) {
    return call("cudaFreeHost_v3020", thread_state().device, InCapture::forbidden, [=] {
        for (int device = 0; device < settings().devices; ++device) {
            state().wait_for_device(device);
        }
        if (const Block* const block = state().memory.find(address); block != nullptr) {
            record_release(address, *block);
        }
        state().memory.remove(address);
        return cudaSuccess;
    });
}

CUDA_SIMULATOR_API cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
    return call("cudaMemGetInfo_v3020", [=] {
        *total = settings().seen_bytes;
        *free = *total - state().memory.bytes_of(thread_state().device);
        return cudaSuccess;
    });
}

CUDA_SIMULATOR_API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* all, const void* address) {
    const std::lock_guard lock(state().mutex);
    const Block* const block = state().memory.find(address);
    *all = {};
    all->device = -1;
    if (block != nullptr) {
        all->type = block->is_on_host ? cudaMemoryTypeHost : cudaMemoryTypeDevice;
        all->device = std::max(0, block->device);
        all->devicePointer = const_cast<void*>(address);
        all->hostPointer = block->is_on_host ? const_cast<void*>(address) : nullptr;
    }
    return cudaSuccess;
}

CUDA_SIMULATOR_API cudaError_t cudaMemcpy(void* target, const void* source, size_t bytes, cudaMemcpyKind) {
    return call("cudaMemcpy_v3020", thread_state().device, InCapture::forbidden,
                [=] { return copy("cudaMemcpy", target, source, {.width = bytes}, nullptr, true); });
}

CUDA_SIMULATOR_API cudaError_t cudaMemcpyAsync(void* target, const void* source, size_t bytes, cudaMemcpyKind,
                                               cudaStream_t stream) {
    return call("cudaMemcpyAsync_v3020",
                [=] { return copy("cudaMemcpyAsync", target, source, {.width = bytes}, stream, false); });
}

CUDA_SIMULATOR_API cudaError_t cudaMemcpy2DAsync(void* target, size_t target_pitch, const void* source,
                                                 size_t source_pitch, size_t width, size_t height,
                                                 cudaMemcpyKind, cudaStream_t stream) {
    return call("cudaMemcpy2DAsync_v3020", [=] {
        return copy("cudaMemcpy2DAsync", target, source, {width, height, target_pitch, source_pitch}, stream,
                    false);
    });
}

CUDA_SIMULATOR_API cudaError_t cudaMemcpyPeerAsync(void* target, int, const void* source, int, size_t bytes,
                                                   cudaStream_t stream) {
    return call("cudaMemcpyPeerAsync_v4000",
                [=] { return copy("cudaMemcpyPeerAsync", target, source, {.width = bytes}, stream, false); });
}

CUDA_SIMULATOR_API cudaError_t cudaMemset(void* target, int value, size_t bytes) {
    return call("cudaMemset_v3020", thread_state().device, InCapture::forbidden,
                [=] { return fill("cudaMemset", target, value, bytes, nullptr); });
}

CUDA_SIMULATOR_API cudaError_t cudaMemsetAsync(void* target, int value, size_t bytes, cudaStream_t stream) {
    return call("cudaMemsetAsync_v3020",
                [=] { return fill("cudaMemsetAsync", target, value, bytes, stream); });
}
