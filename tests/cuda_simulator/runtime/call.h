// SPDX-License-Identifier: Apache-2.0
#pragma once
// The frame of every function of the simulated runtime around its work: the lock, faults, counts, records, and the
// error that cudaGetLastError() returns.

#include "tests/cuda_simulator/runtime/log.h"
#include "tests/cuda_simulator/runtime/records.h"
#include "tests/cuda_simulator/runtime/state.h"

#define CUDA_SIMULATOR_API extern "C" __attribute__((visibility("default")))

namespace cuda_simulator {

/// Whether a call is allowed while a stream captures.
enum class InCapture { allowed, forbidden };

/// Run the body of a call of the runtime.
/// @param name    with version, as CUPTI has it
/// @param device  whose loss makes the call fail; -1: none
/// @param body    returns the status
template <class Body>
cudaError_t call(const char* name, int device, InCapture in_capture, Body body) {
    const std::lock_guard lock(state().mutex);
    const std::uint32_t correlation = begin_correlation();
    const std::uint64_t start = now();
    count_call(name);
    call_target() = {};
    cudaError_t status = cudaSuccess;
    Capture* const forbidding = in_capture == InCapture::forbidden ? state().forbidding_capture() : nullptr;
    if (device >= 0 && state().lost.contains(device)) {
        status = cudaErrorIllegalAddress;
    } else if (forbidding != nullptr) {
        forbidding->broken_by = name;
        report_broken_capture(name);
        status = cudaErrorStreamCaptureUnsupported;
    } else {
        status = body();
    }
    if (status != cudaSuccess) {
        thread_state().last_error = status;
    }
    record_call({name, correlation, start, now(), status, thread_state().device, call_target().stream,
                 call_target().event});
    return status;
}

/// A call that concerns the current device.
template <class Body>
cudaError_t call(const char* name, Body body) {
    return call(name, thread_state().device, InCapture::allowed, body);
}

} // namespace cuda_simulator
