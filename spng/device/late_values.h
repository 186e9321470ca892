// SPDX-License-Identifier: Apache-2.0
#pragma once
// Values that nodes compute on a device for the host to look at, once per event (docs/decisions/streams.md).

#include "spng/core/notes.h"

#include <ATen/core/Tensor.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spng {

/// The values of one node for one event.
class LateValue {
public:
    /// Look at the values on the host and return notes for the event.
    using Reader = std::function<Notes(const at::Tensor& values)>;

    /// @param channels  (view, channel) int32 on the host: the values are about these
    LateValue(at::Tensor values, at::Tensor channels, Reader reader)
        : m_values(std::move(values)), m_channels(std::move(channels)), m_reader(std::move(reader)) {}

    const at::Tensor& values() const { return m_values; }
    const at::Tensor& channels() const { return m_channels; }
    const Reader& reader() const { return m_reader; }

    /// Call the reader, the first time only. Thread-safe. Call only for values on the host that are complete.
    const Notes& notes();

private:
    at::Tensor m_values;
    at::Tensor m_channels;
    Reader m_reader;
    std::mutex m_mutex;
    std::optional<Notes> m_notes;
};

/// The values of one event. Thread-safe.
///
/// Nodes add them when they queue their work. Copies to the host are queued right behind it, but not in a capture: the values
/// that a CUDA graph writes are added again for each event with which it is launched (DeviceSection). So the host sees every
/// event, although a launch runs no code of the nodes. The node that packs the event's frames reads the values that were added
/// before its call, once the frames have arrived.
class LateValues {
public:
    /// Add the values of a node, in place of those of an earlier call of the node for this event.
    /// @param channels  see LateValue
    void add(const std::string& node, const at::Tensor& values, at::Tensor channels,
             LateValue::Reader reader);

    /// Return what was added so far, in the order of the first channels.
    std::vector<std::shared_ptr<LateValue>> all() const;
    /// Return the nodes with what they added.
    std::map<std::string, std::shared_ptr<LateValue>> by_node() const;

private:
    mutable std::mutex m_mutex;
    std::map<std::string, std::shared_ptr<LateValue>> m_values;
};

} // namespace spng
