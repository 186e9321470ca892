// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/meter/node_meter.h"

#include "profiling/recorder/recorder_abi.h"
#include "spng/instrument/meter/node_meter_state.h"
#include "spng/instrument/recording.h"

#include <c10/util/Exception.h>

#include <utility>

namespace spng::instrument {

NodeMeter::State::State(NodeIdentity the_identity)
    : identity(std::move(the_identity)), name(identity.text()), label(name, identity.kind),
      id(recording::new_node(identity.type, identity.instance, identity.kind)), totals(new_totals(identity)) {
}

std::unique_ptr<DeviceSpan> NodeMeter::State::take_span(c10::Device device) {
    const std::lock_guard lock(mutex);
    while (!pending.empty() && pending.front().span->is_complete()) {
        settle_first();
    }
    return spans.take(device);
}

void NodeMeter::State::store(Call::State& call) {
    const std::lock_guard lock(mutex);
    drop_oldest(call.mode.kept_calls);
    if (call.span) {
        pending.push_back({records.size(), call.recorded_call, std::move(call.span)});
    }
    records.push_back(call.record);
    totals->add(call.record);
    for (const auto& [traits, times] : call.operators.counts()) {
        operations[traits] += times;
    }
}

void NodeMeter::State::drop_oldest(std::size_t kept) {
    const bool may_drop = kept > 0 && records.size() >= 2 * kept;
    if (!may_drop || (!pending.empty() && pending.front().record < kept)) {
        return;
    }
    records.erase(records.begin(), records.begin() + static_cast<std::ptrdiff_t>(kept));
    for (Pending& each : pending) {
        each.record -= kept;
    }
}

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

NodeMeter::NodeMeter(NodeIdentity identity) : m_state(std::make_unique<State>(std::move(identity))) {}

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
            // A failed device has no times; the error of the run gives the reason.
            m_state->pending.clear();
        }
    }
    return m_state->records;
}

void NodeMeter::clear() {
    calls(); // settles the times of the device
    const std::lock_guard lock(m_state->mutex);
    m_state->records.clear();
    m_state->operations.clear();
}

std::map<std::string, std::uint64_t> NodeMeter::operations() const {
    const std::lock_guard lock(m_state->mutex);
    std::map<std::string, std::uint64_t> by_name; // overloads of one name have traits of their own
    for (const auto& [traits, times] : m_state->operations) {
        by_name[traits->name] += times;
    }
    return by_name;
}

} // namespace spng::instrument
