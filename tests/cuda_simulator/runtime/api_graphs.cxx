// SPDX-License-Identifier: Apache-2.0
// Capture of streams, and graphs.

#include "tests/cuda_simulator/runtime/call.h"

using namespace cuda_simulator;

namespace {

/// A graph and an executable one are the same here: the launches of a capture.
struct Handle {
    std::shared_ptr<Graph> graph;
};
template <class Graphs>
Handle& handle_of(Graphs graph) {
    return *reinterpret_cast<Handle*>(graph);
}

cudaStreamCaptureStatus status_of(const Stream& stream) {
    return !stream.capture                     ? cudaStreamCaptureStatusNone
           : stream.capture->broken_by.empty() ? cudaStreamCaptureStatusActive
                                               : cudaStreamCaptureStatusInvalidated;
}

} // namespace

CUDA_SIMULATOR_API cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
    const std::lock_guard lock(state().mutex);
    *status = status_of(state().stream_of(stream));
    return cudaSuccess;
}

CUDA_SIMULATOR_API cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* status,
                                                        unsigned long long* id, cudaGraph_t* graph,
                                                        const cudaGraphNode_t** nodes,
                                                        const cudaGraphEdgeData** edges, size_t* count) {
    const std::lock_guard lock(state().mutex);
    const Stream& stream = state().stream_of(handle);
    *status = status_of(stream);
    if (id != nullptr) {
        *id = stream.capture ? stream.capture->id : 0;
    }
    if (graph != nullptr || nodes != nullptr || edges != nullptr || count != nullptr) {
        report_defect("the graph of a capture under way is not simulated");
        return cudaErrorNotSupported;
    }
    return cudaSuccess;
}

CUDA_SIMULATOR_API cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
    return call("cudaStreamBeginCapture_v10000", [=] {
        static std::uint64_t last = 0;
        Stream& stream = state().stream_of(handle);
        if (stream.capture || handle == nullptr) {
            return cudaErrorIllegalState;
        }
        stream.capture = Capture{.id = ++last,
                                 .mode = mode,
                                 .owner = std::this_thread::get_id(),
                                 .graph = std::make_shared<Graph>(),
                                 .broken_by = ""};
        stream.capture->graph->id = static_cast<std::uint32_t>(last);
        state().captures[last] = &*stream.capture;
        return cudaSuccess;
    });
}

CUDA_SIMULATOR_API cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
    return call("cudaStreamEndCapture_v10000", [=] {
        Stream& stream = state().stream_of(handle);
        *graph = nullptr;
        if (!stream.capture) {
            return cudaErrorIllegalState;
        }
        state().captures.erase(stream.capture->id);
        const Capture ended = std::move(*stream.capture);
        stream.capture.reset();
        if (ended.owner != std::this_thread::get_id() && ended.mode != cudaStreamCaptureModeRelaxed) {
            return cudaErrorStreamCaptureWrongThread;
        }
        if (!ended.broken_by.empty()) {
            return cudaErrorStreamCaptureInvalidated;
        }
        *graph = reinterpret_cast<cudaGraph_t>(new Handle{ended.graph});
        return cudaSuccess;
    });
}

CUDA_SIMULATOR_API cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
    std::swap(*mode, thread_state().capture_mode);
    return cudaSuccess;
}

CUDA_SIMULATOR_API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph,
                                                             unsigned long long) {
    return call("cudaGraphInstantiateWithFlags_v11040", [=] {
        *executable =
            reinterpret_cast<cudaGraphExec_t>(new Handle{clone_with_records(*handle_of(graph).graph)});
        ++state().live_graphs;
        return cudaSuccess;
    });
}

CUDA_SIMULATOR_API cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t handle) {
    return call("cudaGraphLaunch_v10000", [=] {
        Stream& stream = state().stream_of(handle);
        if (stream.capture) {
            report_defect("a graph within a graph is not simulated");
            return cudaErrorNotSupported;
        }
        state().note_launch(stream.device);
        state().launch_graph(stream, handle_of(executable).graph);
        return cudaSuccess;
    });
}

CUDA_SIMULATOR_API cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
    const std::lock_guard lock(state().mutex);
    if (nodes != nullptr) {
        report_defect("nodes of a graph are counted, not given out");
        return cudaErrorNotSupported;
    }
    *count = 0;
    for (const Launch& launch : handle_of(graph).graph->launches) {
        *count += launch.operation.kind != Kind::numbers;
    }
    return cudaSuccess;
}

CUDA_SIMULATOR_API cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    delete &handle_of(graph);
    return cudaSuccess;
}

CUDA_SIMULATOR_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
    return call("cudaGraphExecDestroy_v10000", [=] {
        delete &handle_of(executable);
        --state().live_graphs;
        return cudaSuccess;
    });
}
