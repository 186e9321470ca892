// SPDX-License-Identifier: Apache-2.0
// Program with two node calls and device work at fixed times [ns], on the CUDA stand-in of fake_cuda/.
// device_program RECORDER FILE
#include "profiling/recorder/recorder_abi.h"

#include <cuda.h>
#include <cupti.h>

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <dlfcn.h>
#include <unistd.h>

namespace {

using Put = void (*)(const void*, std::size_t, CUpti_ActivityKind);
Put put_record = nullptr;
std::uint64_t base = 0; // CUPTI's time when the first call begins

template <class Record>
void put(const Record& record) {
    if (put_record != nullptr) {
        put_record(&record, sizeof record, record.kind);
    }
}

void api(CUpti_ActivityKind kind, CUpti_CallbackId id, unsigned correlation, int start, int end,
         unsigned thread) {
    CUpti_ActivityAPI call{};
    call.kind = kind;
    call.cbid = id;
    call.start = base + static_cast<std::uint64_t>(start);
    call.end = base + static_cast<std::uint64_t>(end);
    call.threadId = thread;
    call.correlationId = correlation;
    put(call);
}

template <class Record>
Record operation(CUpti_ActivityKind kind, unsigned correlation, int start, int end) {
    Record record{};
    record.kind = kind;
    record.start = base + static_cast<std::uint64_t>(start);
    record.end = base + static_cast<std::uint64_t>(end);
    record.deviceId = 0;
    record.contextId = 1;
    record.streamId = 7;
    record.correlationId = correlation;
    return record;
}

void kernel(const char* name, unsigned correlation, int start, int end, std::uint64_t graph_node = 0) {
    auto record =
        operation<CUpti_ActivityKernel10>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, correlation, start, end);
    record.name = name;
    record.registersPerThread = 32;
    record.gridX = 108;
    record.gridY = 2;
    record.gridZ = 1;
    record.blockX = 256;
    record.blockY = record.blockZ = 1;
    record.staticSharedMemory = 48;
    record.dynamicSharedMemory = 1024;
    record.localMemoryTotal = 65536;
    record.gridId = 5;
    record.launchType = CUPTI_ACTIVITY_LAUNCH_TYPE_REGULAR;
    record.cacheConfig.config.requested = 1;
    record.cacheConfig.config.executed = 2;
    record.sharedMemoryExecuted = 8192;
    record.graphNodeId = graph_node;
    put(record);
}

void correlate(unsigned correlation, std::uint64_t call) {
    CUpti_ActivityExternalCorrelation record{};
    record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
    record.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
    record.externalId = call;
    record.correlationId = correlation;
    if (call != 0) {
        put(record);
    }
}

void describe_context() {
    CUpti_ActivityContext3 context{};
    context.kind = CUPTI_ACTIVITY_KIND_CONTEXT;
    context.contextId = 1;
    context.nullStreamId = 7;
    put(context);
    CUpti_ActivityStream stream{};
    stream.kind = CUPTI_ACTIVITY_KIND_STREAM;
    stream.contextId = 1;
    stream.streamId = 7;
    put(stream);
}

} // namespace

int main(int, char** words) {
    void* const library = dlopen(words[1], RTLD_NOW);
    const auto get = reinterpret_cast<SpngRecorderGet>(dlsym(library, "spng_recorder"));
    const SpngRecorder& recorder = *get(SPNG_RECORDER_VERSION);
    char problem[1000] = "";
    SpngRecorderOptions options{};
    options.file = words[2];
    if (recorder.start(&options, problem, sizeof problem) != 0) {
        std::fprintf(stderr, "%s\n", problem);
        return 1;
    }
    // CUPTI is absent if the recorder did not load it.
    void* const cupti = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
    const auto find = [&](const char* name) { return cupti == nullptr ? nullptr : dlsym(cupti, name); };
    put_record = reinterpret_cast<Put>(find("fake_put"));
    const auto deliver = reinterpret_cast<void (*)()>(find("fake_deliver"));
    const auto external = reinterpret_cast<std::uint64_t (*)()>(find("fake_external"));
    const auto graph_node =
        reinterpret_cast<void (*)(CUpti_CallbackId, std::uint64_t, std::uint64_t)>(find("fake_graph_node"));
    const auto timestamp = reinterpret_cast<decltype(&cuptiGetTimestamp)>(find("cuptiGetTimestamp"));
    const unsigned thread = static_cast<unsigned>(gettid());

    recorder.node(1, "SPNGDecon", "u", "decon", -1);
    recorder.node(2, "SPNGDNNROI", "", "dnn", -1);
    SpngRecorderCall first{}, second{};
    first.id = recorder.call_begins();
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    first.start = now.tv_sec * 1'000'000'000 + now.tv_nsec;
    base = static_cast<std::uint64_t>(first.start);
    if (timestamp != nullptr) {
        // Both clocks run alike: their difference is the fake's.
        std::uint64_t theirs = 0;
        timestamp(&theirs);
        base += theirs > 4'000'000'000'000'000 ? 5'000'000'000'000'000 : 0;
    }
    const std::uint64_t inside = external == nullptr ? 0 : external();
    describe_context();
    const auto launch = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000;
    api(CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 11, 120, 180, thread);
    if (deliver != nullptr) {
        deliver(); // the runtime's record of the same launch comes with a later buffer
    }
    api(CUPTI_ACTIVITY_KIND_RUNTIME, launch, 11, 100, 200, thread);
    kernel("_ZN2at6native4copyIfLi4EEEvi", 11, 1000, 3000);
    correlate(11, inside);
    api(CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 12, 300, 400, thread);
    kernel("regular_fft", 12, 3000, 4500);
    correlate(12, inside);

    auto copy = operation<CUpti_ActivityMemcpy6>(CUPTI_ACTIVITY_KIND_MEMCPY, 13, 4500, 5000);
    copy.bytes = 4096;
    copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
    copy.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
    copy.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    put(copy);
    api(CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020, 13, 500, 600, thread);
    auto peer = operation<CUpti_ActivityMemcpyPtoP4>(CUPTI_ACTIVITY_KIND_MEMCPY2, 16, 5500, 5600);
    peer.bytes = 64;
    peer.srcKind = peer.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    put(peer);
    auto set = operation<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET, 14, 5000, 5100);
    set.value = 255;
    set.bytes = 512;
    set.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_MANAGED;
    put(set);
    CUpti_ActivitySynchronization2 wait{};
    wait.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
    wait.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
    wait.start = base + 700;
    wait.end = base + 5100;
    wait.correlationId = 15;
    wait.contextId = 1;
    wait.streamId = 7;
    wait.cudaEventId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
    put(wait);
    CUpti_ActivityMemory4 memory{};
    memory.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
    memory.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION;
    memory.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
    memory.correlationId = 17;
    memory.address = 0x7f0000000000;
    memory.bytes = 2097152;
    memory.timestamp = base + 50;
    memory.contextId = 1;
    put(memory);
    memory.memoryOperationType = CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
    memory.timestamp = base + 9000;
    put(memory);
    CUpti_ActivityOverhead3 overhead{};
    overhead.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
    overhead.overheadKind = CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH;
    overhead.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
    overhead.objectId.pt.threadId = thread;
    overhead.start = base + 6000;
    overhead.end = base + 6400;
    put(overhead);
    if (graph_node != nullptr) {
        graph_node(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, 100, 0);
    }
    first.node = 1;
    first.end = first.start + 10000;
    recorder.call_ends(&first);
    recorder.device_time(first.id, 4100);
    if (graph_node != nullptr) {
        graph_node(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, 200, 100); // instantiated outside of the call
    }

    second.id = recorder.call_begins();
    second.node = 2;
    second.event = 1;
    second.start = first.start + 20000;
    second.end = first.start + 30000;
    api(CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000, 21, 20100, 20200,
        thread);
    kernel("captured", 21, 21000, 22000, 200);
    // Another thread launches for this call, after its end.
    api(CUPTI_ACTIVITY_KIND_RUNTIME, launch, 22, 40000, 40100, thread + 1);
    kernel("elsewhere", 22, 41000, 42000);
    correlate(22, external == nullptr ? 0 : external());
    recorder.call_ends(&second);

    recorder.pause();
    api(CUPTI_ACTIVITY_KIND_RUNTIME, launch, 99, 50000, 50100, thread);
    kernel("outside of the capture window", 99, 51000, 52000);
    recorder.resume();
    if (recorder.stop(problem, sizeof problem) != 0) {
        std::fprintf(stderr, "%s\n", problem);
        return 1;
    }
    std::printf("%u\n", thread);
    return 0;
}
