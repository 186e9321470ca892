// SPDX-License-Identifier: Apache-2.0
#pragma once
// Findings of nodes about an event on a device, for the host to read once per event (docs/decisions/one-body.md).

#include "WireCellSpng/ChannelMasks.h"
#include "spng/core/notes.h"

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace spng {

/// Masks and notes for the frames of an event.
struct Found {
    ChannelMasks masks{}; ///< of any channels
    Notes notes{};
    /// (view, channel) int32 on the host: the notes are about these; undefined: about the event
    at::Tensor channels{};
};

/// Values that a node computed on a device. The engine calls `read` when the copies of the event are complete. A launch of
/// a CUDA graph runs no code of the nodes: it gives values to the reports of the captured call.
struct Report {
    std::string node; ///< unique in the event
    at::Tensor values{};
    at::Tensor on_host{};  ///< their copy, which may still arrive; undefined in a capture
    at::Tensor channels{}; ///< Found::channels
    /// Look at the values on the host, once per event, on a thread of its event: several may run at the same time. A CUDA
    /// graph may keep it for events of later runs.
    /// @throws Error(Input) if the event is to be rejected (wire-cell --strict)
    std::function<Found(const at::Tensor& values)> read{};
};
using Reports = std::vector<std::shared_ptr<const Report>>;

class TensorSet;

/// The rest of a set whose tensors were still being copied to the host when its node returned. The engine calls both
/// when the copies are complete: `samples` for all sets of the event, and then, in the order of the input, `findings`.
struct Completion {
    /// Return the set with all its samples. May wait for the device again.
    std::function<std::shared_ptr<const TensorSet>(const TensorSet& set)> samples;
    /// Return the set with what the reports of the event found.
    std::function<std::shared_ptr<const TensorSet>(const TensorSet& set, const std::vector<Found>& found)>
        findings;
};

} // namespace spng
