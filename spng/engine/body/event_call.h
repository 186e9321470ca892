// SPDX-License-Identifier: Apache-2.0
#pragma once
// One event in the parts of a replica: the sets in its slots, its stream, and what its nodes report.

#include "spng/device/event_stream.h"
#include "spng/engine/body/run_state.h"
#include "spng/graph/node.h"
#include "spng/graph/parts.h"

#include <c10/core/Device.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace spng {

/// An event on the host, as the head made it. Kept until the tail has the results.
struct HostEvent {
    std::uint64_t index = 0;
    std::vector<TensorSetPtr> sets{}; ///< by slot (Parts); null in slots that the head does not fill
};

/// Whether the samples of a set are on the host; true for null.
bool is_on_host(const TensorSetPtr& set);

/// Thrown in place of a call: the run was stopped, or an earlier event failed.
struct Abandoned {};

/// Holds what is in memory for one try of an event. Threads may call different steps at the same time.
class EventCall {
public:
    /// Take a stream of the device.
    EventCall(const Parts& parts, c10::Device device, const HostEvent& event, const RunState& state);

    std::uint64_t index() const { return m_index; }
    const Parts& parts() const { return m_parts; }
    instrument::MeterMode mode() const { return m_state.options().meter_mode; }
    const EventStream& stream() const { return m_stream; }

    /// Call the node with the sets in its input slots, and put what it returns in its output slots.
    /// @throws Error, Abandoned
    void call(const Step& step);

    /// Take the set out of a slot, or share it if the tail reads it. A set that is not complete is completed first.
    TensorSetPtr take(std::size_t slot);
    void put(std::size_t slot, TensorSetPtr set);
    /// Take the reports that were not added before. Queues the copies of their values to the host where they are missing.
    void add(const Reports& reports);

    /// All work of the body is queued.
    void queued() { m_arrival = m_stream.mark(); }
    /// Wait for that work, and complete the samples of the sets that leave the body.
    /// @throws Error
    void complete();
    /// Read the reports, and add what they found to the sets that leave the body. Call after complete(), event after event
    /// in the order of the input: warnings are about the first event that gives a reason.
    /// @throws Error
    void read_reports();

    /// Call only nodes whose inputs exist, and queue no copies: this is no event (warm_up.h).
    void set_example() { m_is_example = true; }
    std::uint64_t calls() const { return m_calls; }

private:
    struct Reported {
        std::shared_ptr<const Report> report;
        at::Tensor values{}; ///< on the host
        bool was_read = false;
    };

    Ports take_inputs(const Step& step);
    Ports call_node(const Step& step, const Ports& inputs);
    std::string maker_of(std::size_t slot) const;
    /// Do one half of a completion, with errors that name the node.
    template <class Half>
    TensorSetPtr completed(std::size_t slot, const Half& half) const;
    /// Read the reports that arrived since the last call.
    /// @return what all reports found
    std::vector<Found> found();

    const Parts& m_parts;
    const c10::Device m_device;
    const RunState& m_state;
    const std::uint64_t m_index;
    const EventStream m_stream;
    bool m_is_example = false;
    bool m_is_complete = false;
    std::atomic<std::uint64_t> m_calls{0};
    std::vector<TensorSetPtr> m_sets;   ///< by slot; a slot has one writer, and then its readers
    std::vector<std::int64_t> m_put_at; ///< by slot; only for recordings
    std::shared_ptr<const c10::Event> m_arrival;
    std::vector<std::pair<std::size_t, std::shared_ptr<const Completion>>> m_incomplete; ///< by slot
    std::mutex m_mutex; ///< guards m_reported
    std::vector<Reported> m_reported;
    std::vector<Found> m_found;
};

} // namespace spng
