// SPDX-License-Identifier: Apache-2.0
#pragma once
// Values that nodes compute on a device for the host to look at, once per event (docs/decisions/streams.md).

#include "spng/core/notes.h"

#include <ATen/core/Tensor.h>

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace spng {

/// The values of one event. Nodes add them while they queue the event's work; the node that packs its frames queues
/// their copies to the host and reads them when these are complete. Thread-safe.
///
/// The values that a CUDA graph writes are added again for each event with which it is launched (DeviceSection), so that
/// the host sees every event, although a launch runs no code of the nodes.
class LateValues {
public:
    /// Look at the values on the host and return notes for the event.
    using Reader = std::function<Notes(const at::Tensor& values)>;
    struct Entry {
        at::Tensor values;
        Reader read;
    };

    /// Add the values of a node, in place of those of an earlier call of the node for this event.
    void add(const std::string& node, at::Tensor values, Reader read);

    /// Return all values by node.
    std::map<std::string, Entry> entries() const;

    /// Replace the values by copies on the host, which are complete when the stream has reached this point.
    void begin_copies();

    /// Call each reader once, in the order of the nodes' names, and return the notes of all; later calls return the same
    /// notes. Call only after the copies are complete.
    Notes notes();

private:
    mutable std::mutex m_mutex;
    std::map<std::string, Entry> m_entries;
    std::optional<Notes> m_notes;
};

} // namespace spng
