// SPDX-License-Identifier: Apache-2.0
#pragma once
// The state of a meter and of its calls; only for node_meter.cxx and node_call.cxx.

#include "spng/instrument/device_timer.h"
#include "spng/instrument/meter/allocation.h"
#include "spng/instrument/meter/node_meter.h"
#include "spng/instrument/meter/node_totals.h"
#include "spng/instrument/meter/operator_counter.h"
#include "spng/instrument/node_range.h"

#include <ATen/record_function.h>

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace spng::instrument {

struct NodeMeter::State {
    explicit State(NodeIdentity the_identity);

    struct Pending {
        std::size_t record;          ///< index in records
        std::uint64_t recorded_call; ///< id of the call in the recording; 0: not recorded
        std::unique_ptr<DeviceSpan> span;
    };

    /// Return a span to measure with. First settle the earlier calls that the device has finished.
    std::unique_ptr<DeviceSpan> take_span(c10::Device device);
    /// Add a finished call. Its device time follows when the device has finished it.
    void store(Call::State& call);
    /// Drop the oldest `kept` records when there are twice as many, unless the device has not finished one of them.
    void drop_oldest(std::size_t kept);
    /// Put the device time of the oldest pending call, whose end the device has passed, into its record.
    void settle_first();

    const NodeIdentity identity;
    const std::string name; ///< identity.text()
    const NodeLabel label;
    const std::int64_t id; ///< in recordings
    const std::shared_ptr<NodeTotals> totals;
    mutable std::mutex mutex;
    std::vector<CallRecord> records;
    std::unordered_map<const OperatorTraits*, std::uint64_t> operations;
    std::deque<Pending> pending; ///< in the order of the ends
    DeviceSpanPool spans;
};

struct NodeMeter::Call::State {
    State(NodeMeter::State& the_meter, std::uint64_t event, c10::Device the_device, MeterMode the_mode);
    ~State();

    /// Start to measure. The clocks come last, so that they do not include the cost of measuring.
    void begin();
    void end();
    void send_to_recorder() const;

    NodeMeter::State& meter;
    const c10::Device device;
    const MeterMode mode;
    State* const outer;
    const NodeRange range;
    /// Made if LibTorch's profiler or another observer of user scopes is active.
    std::unique_ptr<at::RecordFunction> annotation;
    AllocationScope allocations;
    CallRecord record;
    OperatorCounter operators;
    std::unique_ptr<DeviceSpan> span;
    std::int64_t wall_begin = 0;
    std::int64_t cpu_begin = 0;
    std::uint64_t recorded_call = 0; ///< id of this call in the recording; 0: not recorded
    int exceptions;
    bool discarded;
};

} // namespace spng::instrument
