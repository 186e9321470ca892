// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sums over the calls of each node, readable at any moment of a run by any thread, without a lock that a node
// call could wait for.

#include "spng/instrument/meter/node_meter.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace spng::instrument {

/// Of one meter. Times in nanoseconds, memory in bytes. The sums of a call that ends at this moment may come
/// one after the other.
struct NodeTotals {
    explicit NodeTotals(NodeIdentity of) : node(std::move(of)) {}

    /// A call ended; its device time comes later.
    void add(const CallRecord& call);
    void add_device(std::int64_t nanoseconds);

    const NodeIdentity node;
    std::atomic<std::uint64_t> calls{0}, failed{0}, bytes_in{0}, bytes_out{0}, leaf_operations{0};
    std::atomic<std::int64_t> wall{0}, cpu{0};
    std::atomic<std::int64_t> cpu_peak{not_measured};
    std::atomic<std::int64_t> device{
        not_measured}; ///< of the calls that the device is known to have finished
    std::atomic<std::int64_t> device_peak{not_measured};
};

/// New ones, which all_totals() gives as long as they live.
std::shared_ptr<NodeTotals> new_totals(const NodeIdentity& node);

/// Of all meters, in the order in which they were made.
std::vector<std::shared_ptr<const NodeTotals>> all_totals();

} // namespace spng::instrument
