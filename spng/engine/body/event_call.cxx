// SPDX-License-Identifier: Apache-2.0
#include "spng/engine/body/event_call.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/device/host_copy.h"
#include "spng/device/lost_device.h"
#include "spng/device/memory/out_of_memory.h"
#include "spng/instrument/clock.h"
#include "spng/instrument/recording.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace spng {
namespace {

/// Order of the notes in a frame: about the event, then by the first channel.
int first_channel(const Report& report) {
    if (!report.channels.defined()) {
        return std::numeric_limits<int>::min();
    }
    return report.channels.numel() == 0 ? std::numeric_limits<int>::max()
                                        : *report.channels.const_data_ptr<std::int32_t>();
}

} // namespace

bool is_on_host(const TensorSetPtr& set) {
    return set == nullptr || set->is_on_host();
}

EventCall::EventCall(const Parts& parts, c10::Device device, const HostEvent& event, const RunState& state)
    : m_parts(parts), m_device(device), m_state(state), m_index(event.index), m_stream(device),
      m_sets(event.sets), m_put_at(instrument::recording::recorder() != nullptr ? parts.slots : 0,
                                   instrument::wall_nanoseconds()) {
    m_sets.resize(parts.slots);
}

void EventCall::call(const Step& step) {
    const instrument::recording::EventOnThread on_thread(m_index);
    DeviceWarnings::include_this_thread();
    if (m_state.abandoned(m_index)) {
        throw Abandoned{};
    }
    // The tail works on the host, also after the loss of the device; a tap may have tensors of it.
    std::optional<EventStream::Guard> on_stream;
    if (!m_is_complete || !std::all_of(step.inputs.begin(), step.inputs.end(),
                                       [this](std::size_t slot) { return is_on_host(m_sets[slot]); })) {
        on_stream.emplace(m_stream);
    }
    Ports inputs = take_inputs(step);
    if (m_is_example && std::find(inputs.begin(), inputs.end(), nullptr) != inputs.end()) {
        return;
    }
    Ports outputs = call_node(step, inputs);
    inputs.clear(); // frees their memory before the outputs are used
    NVTX_SCHEDULING_RANGE("EventCall::put_outputs", m_index);
    for (std::size_t port = 0; port < step.outputs.size(); ++port) {
        put(step.outputs[port], std::move(outputs.at(port)));
    }
}

Ports EventCall::take_inputs(const Step& step) {
    NVTX_SCHEDULING_RANGE("EventCall::take_inputs", m_index);
    Ports inputs;
    for (std::size_t port = 0; port < step.inputs.size(); ++port) {
        const std::size_t slot = step.inputs[port];
        if (!m_put_at.empty()) {
            instrument::recording::message(static_cast<std::int64_t>(step.edges[port]), m_index,
                                           m_put_at[slot], instrument::wall_nanoseconds());
        }
        inputs.push_back(take(slot));
    }
    return inputs;
}

Ports EventCall::call_node(const Step& step, const Ports& inputs) {
    ++m_calls;
    Ports outputs = step.node->call(m_index, inputs, mode());
    if (outputs.size() < step.outputs.size()) {
        throw Error(ErrorKind::Internal, {.what = "a node returned fewer outputs than it has ports",
                                          .where = step.node->name().text(),
                                          .seen = std::to_string(outputs.size()),
                                          .expected = std::to_string(step.outputs.size())});
    }
    for (const auto& set : outputs) {
        add(set->reports());
    }
    return outputs;
}

TensorSetPtr EventCall::take(std::size_t slot) {
    if (m_sets[slot] && m_sets[slot]->completion()) {
        if (const auto mark = m_stream.mark()) {
            mark->synchronize();
        }
        const auto rest = m_sets[slot]->completion();
        m_sets[slot] = completed(slot, [&](const TensorSet& set) { return rest->samples(set); });
        m_sets[slot] = completed(slot, [&](const TensorSet& set) { return rest->findings(set, found()); });
    }
    return m_parts.leaves[slot] ? m_sets[slot] : std::move(m_sets[slot]);
}

void EventCall::put(std::size_t slot, TensorSetPtr set) {
    m_sets[slot] = std::move(set);
    if (!m_put_at.empty()) {
        m_put_at[slot] = instrument::wall_nanoseconds();
    }
}

void EventCall::add(const Reports& reports) {
    if (m_is_example) {
        return;
    }
    const std::lock_guard lock(m_mutex);
    for (const auto& report : reports) {
        const auto same = std::find_if(m_reported.begin(), m_reported.end(), [&](const Reported& reported) {
            return reported.report->node == report->node;
        });
        if (!report->values.defined() || (same != m_reported.end() && same->report == report)) {
            continue;
        }
        Reported made{report,
                      report->on_host.defined() ? report->on_host : begin_copy_to_host(report->values)};
        if (same == m_reported.end()) {
            m_reported.push_back(std::move(made));
        } else {
            *same = std::move(made); // the section was called again (CapturedBody)
        }
    }
}

std::string EventCall::maker_of(std::size_t slot) const {
    for (const Step& step : m_parts.body) {
        if (std::find(step.outputs.begin(), step.outputs.end(), slot) != step.outputs.end()) {
            return step.node->name().text();
        }
    }
    return {};
}

template <class Half>
TensorSetPtr EventCall::completed(std::size_t slot, const Half& half) const {
    try {
        return half(*m_sets[slot]);
    } catch (const Error& error) {
        if (error.kind() == ErrorKind::Input) {
            throw; // a report, which names the node that checked the input
        }
        rethrow_readable(maker_of(slot) + ", event " + std::to_string(m_index));
    } catch (...) {
        rethrow_readable(maker_of(slot) + ", event " + std::to_string(m_index));
    }
}

std::vector<Found> EventCall::found() {
    const std::lock_guard lock(m_mutex);
    std::vector<Reported*> unread;
    for (Reported& reported : m_reported) {
        if (!std::exchange(reported.was_read, true)) {
            unread.push_back(&reported);
        }
    }
    std::sort(unread.begin(), unread.end(), [](const Reported* left, const Reported* right) {
        const Report &a = *left->report, &b = *right->report;
        return std::make_pair(first_channel(a), a.node) < std::make_pair(first_channel(b), b.node);
    });
    for (Reported* const reported : unread) {
        m_found.push_back(reported->report->read(reported->values));
        m_found.back().channels = reported->report->channels;
        reported->values.reset();
    }
    return m_found;
}

void EventCall::complete() {
    const instrument::recording::EventOnThread on_thread(m_index);
    const EventStream::Guard on_stream(m_stream);
    if (m_arrival) {
        NVTX_SCHEDULING_RANGE("EventCall::wait_for_copies", m_index);
        try {
            m_arrival->synchronize();
        } catch (...) {
            rethrow_readable("copies of the results, event " + std::to_string(m_index));
        }
    }
    for (std::size_t slot = 0; slot < m_sets.size(); ++slot) {
        if (m_parts.leaves[slot] && m_sets[slot] && m_sets[slot]->completion()) {
            m_incomplete.emplace_back(slot, m_sets[slot]->completion());
        }
    }
    for (const auto& [slot, rest] : m_incomplete) {
        m_sets[slot] = completed(slot, [&rest = rest](const TensorSet& set) { return rest->samples(set); });
    }
    m_is_complete = true;
}

void EventCall::read_reports() {
    const instrument::recording::EventOnThread on_thread(m_index);
    const std::vector<Found> all = found();
    for (const auto& [slot, rest] : m_incomplete) {
        m_sets[slot] =
            completed(slot, [&, &rest = rest](const TensorSet& set) { return rest->findings(set, all); });
    }
}

} // namespace spng
