// SPDX-License-Identifier: Apache-2.0
#pragma once
// A list of every ATen operator that runs, with the node call it belongs to and the devices of its inputs:
// for tests and diagnosis. It slows every operator down, unlike the counting in node_meter.h.

#include <c10/core/Device.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace spng::instrument {

struct OperationRecord {
    std::string node; ///< "type:instance", empty outside of node calls
    std::string kind; ///< of the node
    std::uint64_t event = 0;
    std::string name;                ///< "aten::add", without overload
    bool counted = false;            ///< whether it is a leaf operation (operator_traits.h)
    std::vector<c10::Device> inputs; ///< devices of its tensor inputs, in order; an in-place target is first
};

/// Whether this operator makes the host wait for a device, whatever device it ran on here: it reads a value
/// (item, equal), has an output whose size depends on values (nonzero, masked_select, unique, ...), or copies
/// from a device to the host.
bool is_hidden_synchronisation(const OperationRecord& record);

/// Records, on all threads, from construction to destruction. One at a time: constructing a second one throws
/// Error(Internal).
class OperationLog {
public:
    OperationLog();
    ~OperationLog();
    OperationLog(const OperationLog&) = delete;
    OperationLog& operator=(const OperationLog&) = delete;

    /// In the order in which they began.
    std::vector<OperationRecord> records() const;

    struct State;

private:
    std::unique_ptr<State> m_state;
};

} // namespace spng::instrument
