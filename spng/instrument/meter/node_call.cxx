// SPDX-License-Identifier: Apache-2.0
#include "profiling/recorder/recorder_abi.h"
#include "spng/instrument/meter/nested_call.h"
#include "spng/instrument/meter/node_meter.h"
#include "spng/instrument/meter/node_meter_state.h"
#include "spng/instrument/meter/unmeasured.h"
#include "spng/instrument/recording.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <exception>
#include <new>
#include <string_view>
#include <utility>

namespace spng::instrument {
namespace {

thread_local NodeMeter::Call::State* t_call = nullptr;

} // namespace

NodeMeter::Call::State::State(NodeMeter::State& the_meter, std::uint64_t event, c10::Device the_device,
                              MeterMode the_mode)
    : meter(the_meter), device(the_device), mode(the_mode), outer(std::exchange(t_call, this)),
      range(meter.label, event),
      allocations(device.is_cpu() ? AllocationScope::Reports::none : AllocationScope::Reports::devices),
      exceptions(std::uncaught_exceptions()), discarded(Unmeasured::is_on()) {
    record.event = event;
    record.depth = outer == nullptr ? 0 : outer->record.depth + 1;
}

NodeMeter::Call::State::~State() {
    t_call = outer;
}

void NodeMeter::Call::State::begin() {
    if (auto observers = at::getStepCallbacksUnlessEmpty(at::RecordScope::USER_SCOPE)) {
        annotation = std::make_unique<at::RecordFunction>(std::move(*observers));
        annotation->before(std::string_view(meter.name));
    }
    if (const SpngRecorder* const recorder = recording::recorder()) {
        recorded_call = recorder->call_begins();
    }
    if (!device.is_cpu()) {
        try {
            if (mode.synchronise) {
                wait_for_current_stream(device);
            }
            if (mode.device_events) {
                span = meter.take_span(device);
                span->begin();
            }
        } catch (const c10::Error&) {
            span.reset(); // this call then has no device time
        }
    }
    cpu_begin = cpu_nanoseconds(mode.cpu_clock);
    wall_begin = wall_nanoseconds();
    record.start = wall_begin - process_start_nanoseconds();
}

void NodeMeter::Call::State::end() {
    if (!device.is_cpu()) {
        try {
            if (span) {
                span->end();
            }
            if (mode.synchronise) {
                wait_for_current_stream(device);
            }
        } catch (const c10::Error&) {
            span.reset();
        }
    }
    record.wall = wall_nanoseconds() - wall_begin;
    // The clocks of the process and of the threads that do not count are read at slightly different times.
    record.cpu = std::max<std::int64_t>(0, cpu_nanoseconds(mode.cpu_clock) - cpu_begin);
    record.leaf_operations = operators.total();
    record.failed = std::uncaught_exceptions() > exceptions;
    if (counts_cpu_allocations()) {
        record.cpu_allocated = allocations.cpu().allocated;
        record.cpu_peak = allocations.cpu().peak;
    }
    if (allocations.counts_device()) {
        record.device_allocated = allocations.device().allocated;
        record.device_peak = allocations.device().peak;
    }
    if (outer != nullptr && !discarded) {
        outer->record.nested_wall += record.wall;
    }
    if (recorded_call != 0) {
        send_to_recorder();
    }
    if (!discarded) {
        meter.store(*this);
    }
}

void NodeMeter::Call::State::send_to_recorder() const {
    const SpngRecorder* const recorder = recording::recorder();
    if (recorder == nullptr) {
        return;
    }
    SpngRecorderCall call{};
    call.id = recorded_call;
    call.discarded = discarded ? 1 : 0;
    call.node = meter.id;
    call.event = static_cast<std::int64_t>(record.event);
    call.start = wall_begin;
    call.end = wall_begin + record.wall;
    call.failed = record.failed ? 1 : 0;
    call.parent = outer == nullptr ? 0 : outer->recorded_call;
    call.bytes_in = static_cast<std::int64_t>(record.bytes_in);
    call.bytes_out = static_cast<std::int64_t>(record.bytes_out);
    call.cpu = record.cpu;
    call.host_peak = record.cpu_peak;
    call.device_peak = record.device_peak;
    call.leaf_operations = static_cast<std::int64_t>(record.leaf_operations);
    recorder->call_ends(&call);
}

NodeMeter::Call::Call(NodeMeter& meter, std::uint64_t event, c10::Device device, MeterMode mode)
    : m_state(std::make_unique<State>(*meter.m_state, event, device, mode)) {
    m_state->begin();
}

NodeMeter::Call::~Call() {
    try {
        m_state->end();
    } catch (const std::bad_alloc&) {
        // No memory for the record: losing it is better than ending the run.
    }
}

void NodeMeter::Call::count_bytes_in(std::size_t bytes) {
    m_state->record.bytes_in += bytes;
}

void NodeMeter::Call::count_bytes_out(std::size_t bytes) {
    m_state->record.bytes_out += bytes;
}

void NodeMeter::Call::discard() {
    m_state->discarded = true;
}

NestedCall::NestedCall(NodeMeter& meter) {
    if (t_call != nullptr) {
        m_call.emplace(meter, t_call->record.event, t_call->device, t_call->mode);
    }
}

void NestedCall::count_bytes(std::size_t in, std::size_t out) {
    if (m_call) {
        m_call->count_bytes_in(in);
        m_call->count_bytes_out(out);
    }
}

CurrentCall current_call() noexcept {
    return t_call == nullptr ? CurrentCall{} : CurrentCall{&t_call->meter.identity, t_call->record.event};
}

} // namespace spng::instrument
