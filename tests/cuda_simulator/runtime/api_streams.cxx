// SPDX-License-Identifier: Apache-2.0
// Streams and events.

#include "tests/cuda_simulator/runtime/call.h"
#include "tests/cuda_simulator/runtime/operators.h"
#include "tests/cuda_simulator/runtime/settings.h"

using namespace cuda_simulator;

namespace {

int device_of(cudaStream_t stream) {
    const std::lock_guard lock(state().mutex);
    return state().stream_of(stream).device;
}

Event& event_of(cudaEvent_t event) {
    return *reinterpret_cast<Event*>(event);
}

/// An event that a queue has not come to is found to be ready every eighth time.
bool is_ready(Event& event) {
    static unsigned queries = 0;
    if (event.stream == nullptr || event.stream->done >= event.position) {
        return true;
    }
    if (settings().is_bare || ++queries % 8 != 0) {
        return false;
    }
    state().run(*event.stream, event.position);
    return true;
}

} // namespace

CUDA_SIMULATOR_API cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags,
                                                            int priority) {
    load_operators();
    return call("cudaStreamCreateWithPriority_v5050", [=] {
        if ((flags & cudaStreamNonBlocking) == 0) {
            report_defect("a stream that waits for the default stream is not simulated");
        }
        *stream = reinterpret_cast<cudaStream_t>(&state().add_stream(priority));
        return cudaSuccess;
    });
}

CUDA_SIMULATOR_API cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    return call("cudaStreamDestroy_v5050", device_of(stream), InCapture::allowed, [=] {
        state().remove_stream(state().stream_of(stream));
        return cudaSuccess;
    });
}

CUDA_SIMULATOR_API cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
    const std::lock_guard lock(state().mutex);
    *priority = state().stream_of(stream).priority;
    return cudaSuccess;
}

CUDA_SIMULATOR_API cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
    return call("cudaStreamSynchronize_v3020", device_of(handle), InCapture::forbidden, [=] {
        Stream& stream = state().stream_of(handle);
        call_target().stream = stream.id;
        if (stream.capture) {
            stream.capture->broken_by = "cudaStreamSynchronize";
            return cudaErrorStreamCaptureUnsupported;
        }
        count_wait("cudaStreamSynchronize");
        state().wait_for(stream, stream.queued, stream.clock);
        return cudaSuccess;
    });
}

CUDA_SIMULATOR_API cudaError_t cudaStreamQuery(cudaStream_t handle) {
    return call("cudaStreamQuery_v3020", device_of(handle), InCapture::forbidden, [=] {
        Stream& stream = state().stream_of(handle);
        if (stream.capture) {
            stream.capture->broken_by = "cudaStreamQuery";
            return cudaErrorStreamCaptureUnsupported;
        }
        if (stream.done < stream.queued) {
            return cudaErrorNotReady;
        }
        state().host.join(stream.clock);
        return cudaSuccess;
    });
}

CUDA_SIMULATOR_API cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned) {
    return call("cudaStreamWaitEvent_v3020", device_of(handle), InCapture::allowed, [=] {
        Stream& stream = state().stream_of(handle);
        const Event& waited = event_of(event);
        call_target() = {stream.id, waited.id};
        if (waited.is_captured && waited.stream != &stream) {
            report_defect("a capture of several streams is not simulated");
            return cudaErrorNotSupported;
        }
        if (stream.capture && !waited.is_captured && waited.stream != nullptr) {
            stream.capture->broken_by = "cudaStreamWaitEvent";
            return cudaErrorStreamCaptureIsolation;
        }
        state().make_wait(stream, waited);
        return cudaSuccess;
    });
}

CUDA_SIMULATOR_API cudaError_t cudaStreamAddCallback(cudaStream_t handle, cudaStreamCallback_t callback,
                                                     void* data, unsigned) {
    return call("cudaStreamAddCallback_v5000", device_of(handle), InCapture::forbidden, [=] {
        state().enqueue(state().stream_of(handle),
                        {.operation = {.kind = Kind::numbers,
                                       .name = "cudaStreamAddCallback",
                                       .accesses = {},
                                       .compute = [=] { callback(handle, cudaSuccess, data); }}});
        return cudaSuccess;
    });
}

CUDA_SIMULATOR_API cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
    return call("cudaEventCreateWithFlags_v3020", [=] {
        static std::uint32_t last = 0;
        auto* const made = new Event;
        made->id = ++last;
        made->has_timing = (flags & cudaEventDisableTiming) == 0;
        made->device = thread_state().device;
        state().events.insert(made);
        *event = reinterpret_cast<cudaEvent_t>(made);
        return cudaSuccess;
    });
}

CUDA_SIMULATOR_API cudaError_t cudaEventCreate(cudaEvent_t* event) {
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

CUDA_SIMULATOR_API cudaError_t cudaEventDestroy(cudaEvent_t event) {
    return call("cudaEventDestroy_v3020", event_of(event).device, InCapture::allowed, [=] {
        if (state().events.erase(&event_of(event)) == 0) {
            return cudaErrorInvalidResourceHandle;
        }
        delete &event_of(event);
        return cudaSuccess;
    });
}

CUDA_SIMULATOR_API cudaError_t cudaEventRecordWithFlags(cudaEvent_t handle, cudaStream_t to, unsigned flags) {
    return call("cudaEventRecord_v3020", event_of(handle).device, InCapture::allowed, [=] {
        Stream& stream = state().stream_of(to);
        Event& event = event_of(handle);
        if (event.device != stream.device) {
            return cudaErrorInvalidResourceHandle;
        }
        event.is_captured = stream.capture.has_value() && flags != cudaEventRecordExternal;
        event.stream = &stream;
        event.position = stream.queued;
        event.clock = stream.clock;
        event.clock.join(state().host);
        event.time = std::max(stream.end, now());
        return cudaSuccess;
    });
}

CUDA_SIMULATOR_API cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

CUDA_SIMULATOR_API cudaError_t cudaEventQuery(cudaEvent_t handle) {
    return call("cudaEventQuery_v3020", event_of(handle).device, InCapture::forbidden, [=] {
        Event& event = event_of(handle);
        call_target().event = event.id;
        if (event.is_captured) {
            return cudaErrorCapturedEvent;
        }
        if (!is_ready(event)) {
            return cudaErrorNotReady;
        }
        state().host.join(event.clock);
        return cudaSuccess;
    });
}

CUDA_SIMULATOR_API cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
    return call("cudaEventSynchronize_v3020", event_of(handle).device, InCapture::forbidden, [=] {
        const Event& event = event_of(handle);
        call_target().event = event.id;
        if (event.is_captured) {
            return cudaErrorCapturedEvent;
        }
        count_wait("cudaEventSynchronize");
        if (event.stream != nullptr) {
            state().wait_for(*event.stream, event.position, event.clock);
        }
        return cudaSuccess;
    });
}

CUDA_SIMULATOR_API cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
    return call("cudaEventElapsedTime_v12080", event_of(begin).device, InCapture::allowed, [=] {
        const Event &first = event_of(begin), &last = event_of(end);
        if (first.stream == nullptr || last.stream == nullptr || !first.has_timing || !last.has_timing) {
            return cudaErrorInvalidResourceHandle;
        }
        if (first.stream->done < first.position || last.stream->done < last.position) {
            return cudaErrorNotReady;
        }
        *milliseconds =
            static_cast<float>((static_cast<double>(last.time) - static_cast<double>(first.time)) * 1e-6);
        return cudaSuccess;
    });
}
