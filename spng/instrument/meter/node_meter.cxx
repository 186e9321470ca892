#include "spng/instrument/meter/node_meter.h"

#include "profiling/recorder/recorder_abi.h"
#include "spng/instrument/device_timer.h"
#include "spng/instrument/meter/allocation.h"
#include "spng/instrument/meter/nested_call.h"
#include "spng/instrument/meter/node_totals.h"
#include "spng/instrument/meter/unmeasured.h"
#include "spng/instrument/node_range.h"
#include "spng/instrument/operator_traits.h"
#include "spng/instrument/recording.h"

#include <ATen/record_function.h>
#include <c10/util/Exception.h>
#include <c10/util/SmallVector.h>

#include <algorithm>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <unordered_map>
#include <utility>

namespace spng::instrument {
namespace {

thread_local NodeMeter::Call::State* t_call = nullptr;

} // namespace

struct NodeMeter::State {
    explicit State(NodeIdentity the_identity)
        : identity(std::move(the_identity)), label(identity.text(), identity.kind),
          number(recording::new_node(identity.type, identity.instance, identity.kind)),
          totals(new_totals(identity)) {}

    struct Pending {
        std::size_t record;
        std::uint64_t recorded_call; ///< 0: not recorded
        std::unique_ptr<DeviceSpan> span;
    };

    std::unique_ptr<DeviceSpan> take_span(c10::Device device);
    void store(Call::State& call);
    void settle_first();

    const NodeIdentity identity;
    const NodeLabel label;
    const std::int64_t number; ///< in recordings
    const std::shared_ptr<NodeTotals> totals;
    mutable std::mutex mutex;
    std::vector<CallRecord> records;
    std::unordered_map<const OperatorTraits*, std::uint64_t> operations;
    std::deque<Pending> pending; ///< in the order of the ends
    DeviceSpanPool spans;
};

struct NodeMeter::Call::State {
    State(NodeMeter::State& the_meter, std::uint64_t event, c10::Device the_device, MeterMode the_mode)
        : meter(the_meter), device(the_device), mode(the_mode), outer(std::exchange(t_call, this)),
          range(meter.label, event), allocations(!device.is_cpu()) {
        record.event = event;
        record.depth = outer == nullptr ? 0 : outer->record.depth + 1;
    }
    ~State() { t_call = outer; }

    void count(const OperatorTraits& traits);
    void begin();
    void end();
    void tell_recorder() const;

    NodeMeter::State& meter;
    const c10::Device device;
    const MeterMode mode;
    State* const outer;
    const NodeRange range;
    AllocationScope allocations;
    CallRecord record;
    LeafCounter leaves;
    c10::SmallVector<std::pair<const OperatorTraits*, std::uint64_t>, 16> operations;
    std::unique_ptr<DeviceSpan> span;
    std::int64_t wall_begin = 0;
    std::int64_t cpu_begin = 0;
    std::uint64_t recorded_call = 0; ///< number of this call in a recording; 0: it is not recorded
    int exceptions = std::uncaught_exceptions();
    bool discarded = Unmeasured::is_on();
};

namespace {

std::unique_ptr<at::ObserverContext> operator_begins(const at::RecordFunction& function) {
    if (t_call != nullptr) {
        t_call->leaves.enter(traits_of(function));
    }
    return nullptr;
}

void operator_ends(const at::RecordFunction&, at::ObserverContext*) {
    if (t_call != nullptr) {
        for (const auto& leaf : t_call->leaves.leave()) {
            t_call->count(*leaf.traits);
        }
    }
}

/// Once per process and for ever; outside of calls a callback costs some nanoseconds per operator.
void follow_operators() {
    static std::once_flag once;
    std::call_once(once, [] {
        at::addGlobalCallback(
            at::RecordFunctionCallback(&operator_begins, &operator_ends).scopes({at::RecordScope::FUNCTION}));
    });
}

} // namespace

/// A span to measure with; on the way, the times of earlier calls that the device has finished are taken.
std::unique_ptr<DeviceSpan> NodeMeter::State::take_span(c10::Device device) {
    const std::lock_guard lock(mutex);
    while (!pending.empty() && pending.front().span->is_complete()) {
        settle_first();
    }
    return spans.take(device);
}

/// Add a finished call; its device time follows when the device has finished too.
void NodeMeter::State::store(Call::State& call) {
    const std::lock_guard lock(mutex);
    if (call.span) {
        pending.push_back({records.size(), call.recorded_call, std::move(call.span)});
    }
    records.push_back(call.record);
    totals->add(call.record);
    for (const auto& [traits, times] : call.operations) {
        operations[traits] += times;
    }
}

/// Put the device time of the oldest pending call, whose end the device has passed, into its record.
void NodeMeter::State::settle_first() {
    Pending first = std::move(pending.front());
    pending.pop_front();
    records[first.record].device = first.span->nanoseconds();
    totals->add_device(records[first.record].device);
    const SpngRecorder* const recorder = recording::recorder();
    if (recorder != nullptr && first.recorded_call != 0) {
        recorder->device_time(first.recorded_call, records[first.record].device);
    }
    spans.give_back(std::move(first.span));
}

void NodeMeter::Call::State::count(const OperatorTraits& traits) {
    ++record.leaf_operations;
    for (auto& [known, times] : operations) {
        if (known == &traits) {
            ++times;
            return;
        }
    }
    operations.emplace_back(&traits, 1);
}

/// The clocks come last, so that they do not see what measuring itself costs.
void NodeMeter::Call::State::begin() {
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
    // The process's clock and those of the threads that do not count are not read in the same instant.
    record.cpu = std::max<std::int64_t>(0, cpu_nanoseconds(mode.cpu_clock) - cpu_begin);
    record.failed = std::uncaught_exceptions() > exceptions;
    record.cpu_allocated = allocations.cpu().allocated;
    record.cpu_peak = allocations.cpu().peak;
    if (allocations.counts_device()) {
        record.device_allocated = allocations.device().allocated;
        record.device_peak = allocations.device().peak;
    }
    if (outer != nullptr && !discarded) {
        outer->record.nested_wall += record.wall;
    }
    if (recorded_call != 0) {
        tell_recorder();
    }
    if (!discarded) {
        meter.store(*this);
    }
}

void NodeMeter::Call::State::tell_recorder() const {
    const SpngRecorder* const recorder = recording::recorder();
    if (recorder == nullptr) {
        return;
    }
    SpngRecorderCall call{};
    call.id = recorded_call;
    call.discarded = discarded ? 1 : 0;
    call.node = meter.number;
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

NodeMeter::NodeMeter(NodeIdentity identity) : m_state(std::make_unique<State>(std::move(identity))) {
    follow_operators();
    count_cpu_allocations();
}

NodeMeter::~NodeMeter() = default;

const NodeIdentity& NodeMeter::identity() const {
    return m_state->identity;
}

std::vector<CallRecord> NodeMeter::calls() {
    const std::lock_guard lock(m_state->mutex);
    while (!m_state->pending.empty()) {
        try {
            m_state->pending.front().span->wait();
            m_state->settle_first();
        } catch (const c10::Error&) {
            // A device that failed has no times any more; the run's own error tells the user why.
            m_state->pending.clear();
        }
    }
    return m_state->records;
}

std::map<std::string, std::uint64_t> NodeMeter::operations() const {
    const std::lock_guard lock(m_state->mutex);
    std::map<std::string, std::uint64_t> by_name; // overloads of one name have traits of their own
    for (const auto& [traits, times] : m_state->operations) {
        by_name[traits->name] += times;
    }
    return by_name;
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
