// SPDX-License-Identifier: Apache-2.0
#pragma once
// The interface of the simulated CUDA runtime (libcudart.so.13) for the other simulated libraries: queueing of work that
// computes on the CPU, addresses of device memory for the CPU, and a log of calls and operations.
//
// Device memory is not accessible at the addresses that the program sees. Every block has a second mapping for the
// operations of the simulator. Operations of a stream wait in its queue and run as late as the rules of streams
// allow: when the host waits for them, or an event after them is found to be ready.

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace cuda_simulator {

/// Bytes of memory that an operation reads or writes. Memory that is neither of a device nor page-locked is ignored.
struct Access {
    const void* begin;
    std::size_t bytes;
    bool is_write;
};

enum class Kind {
    kernel,
    copy_to_device,
    copy_to_host,
    copy_on_device,
    fill,
    transform, ///< of cuFFT
    numbers ///< computes what kernels of LibTorch would; not an operation of CUDA, so only its traffic is counted
};

/// Bytes of device memory that an operation reads and writes: the extents of its tensors, each once. The caches of a
/// device are not considered.
struct Traffic {
    std::size_t read = 0, written = 0;
};

/// One operation of a stream.
struct Operation {
    Kind kind;
    std::string name;              ///< of the kernel, or of the ATen operator
    std::vector<Access> accesses;  ///< for the detection of races
    std::function<void()> compute; ///< works on addresses of host_address(); may be empty
    std::size_t bytes = 0;         ///< copied or filled
    Traffic traffic{};             ///< none for copies over the bus
};

/// Queue an operation, or add it to the graph that the stream captures.
/// @param stream  as in calls of the runtime: null for the default stream of the current device
void enqueue(cudaStream_t stream, Operation operation);

/// Run all that is in a stream's queue. The host has not waited: no order follows for the detection of races.
void run_queue(cudaStream_t stream);

/// True while the stream captures a graph.
bool is_capturing(cudaStream_t stream);

/// Number of kernels that this thread has launched or captured.
std::uint64_t kernels_of_thread();

/// Address at which the simulator itself can access memory. Returns `address` if it is not device memory.
void* host_address(const void* address);

/// Name the part of a block of device memory that an allocator of the program gives out, so that the pointers of
/// kernels have an extent. Without it a pointer extends to the end of its block.
void note_allocation(const void* begin, std::size_t bytes);
void note_release(const void* begin);

/// True if SPNG's own kernels run in the emulator. Otherwise they are counted only, as those of LibTorch are, and the
/// CPU's function of their operator computes the numbers, in a fraction of the time.
bool emulates_kernels();

/// True if races are looked for. Otherwise operations need no accesses.
bool detects_races();

/// Report a defect of the program or a limit of the simulator: on standard error and in the report.
void report_defect(const std::string& what);

// --- log ----------------------------------------------------------------------------------------------------------

/// A call of the runtime by the program. Times in ns of CLOCK_MONOTONIC.
struct CallRecord {
    const char* name; ///< with version, as in CUPTI: cudaMalloc_v3020
    std::uint32_t correlation;
    std::uint64_t start, end;
    int status;
    int device = 0;           ///< current device of the thread
    std::uint32_t stream = 0; ///< id of the stream in the arguments, 0: none
    std::uint32_t event = 0;  ///< id of the event in the arguments, 0: none
};

/// An operation on a device. Its times are those of a model, not of the CPU's work: it begins after its launch and
/// after the operation before it in its stream, and takes a time that depends on its bytes.
struct OperationRecord {
    Kind kind;
    std::string name; ///< as registered by the program: a mangled name
    int device;
    std::uint32_t stream; ///< id, 7 for the default stream
    std::uint32_t correlation;
    std::uint64_t start, end;
    std::size_t bytes;
    dim3 grid, block;
    int shared_bytes;
    bool host_is_pageable;   ///< of a copy
    std::uint32_t graph = 0; ///< id of the launched graph, 0: none
    std::uint64_t graph_node = 0;
    Traffic traffic{};
    std::string range{}; ///< innermost NVTX range at the launch, of a captured operation at its capture
};

/// A block of memory that the program allocated or released.
struct MemoryRecord {
    std::uint64_t address, bytes;
    int device;
    bool is_page_locked; ///< of the host
    bool is_release;
    std::uint32_t correlation; ///< of the call
    std::uint64_t time;
};

/// A node of a graph, when it is captured, and again when an executable graph is made from it.
struct GraphNodeRecord {
    std::uint64_t node;
    std::uint64_t original = 0; ///< of an executable graph: the captured node; else 0
};

/// Receives all records, each from the thread that made the call, while the simulator's lock is held.
class Observer {
public:
    virtual ~Observer() = default;
    virtual void call(const CallRecord& record) = 0;
    virtual void operation(const OperationRecord& record) = 0;
    virtual void memory(const MemoryRecord&) {}
    virtual void graph_node(const GraphNodeRecord&) {}
};

/// Set the observer; null for none.
void set_observer(Observer* observer);

/// Load of a device by this process, for the simulated driver and NVML.
struct DeviceLoad {
    bool is_used = false;        ///< the process has started to work on it
    std::uint64_t allocated = 0; ///< bytes of device memory
    std::uint64_t busy = 0;      ///< sum of the times of all operations [ns]
};
DeviceLoad device_load(int device);

} // namespace cuda_simulator
