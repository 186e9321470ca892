// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/channels/fault_copies.h"

#include "spng/device/host_copy.h"
#include "spng/nodes/channels/channel_faults.h"

#include <algorithm>

namespace spng {

std::vector<FaultCopy> copied_faults(const std::vector<TensorSetPtr>& sets) {
    std::vector<FaultCopy> copied;
    std::vector<at::Tensor> known;
    for (const auto& set : sets) {
        for (const NamedTensor& tensor : set->tensors()) {
            const at::Tensor fault = tensor.channels ? tensor.channels->fault : at::Tensor();
            const bool is_new =
                fault.defined() && std::none_of(known.begin(), known.end(),
                                                [&](const auto& other) { return other.is_same(fault); });
            if (is_new) {
                known.push_back(fault);
                copied.push_back({tensor.channels->ids, begin_copy_to_host(fault)});
            }
        }
    }
    return copied;
}

std::shared_ptr<const EventInfo> with_faults(const std::shared_ptr<const EventInfo>& event,
                                             const std::vector<FaultCopy>& faults,
                                             const std::vector<int>& channels) {
    if (faults.empty()) {
        return event;
    }
    auto own = std::make_shared<EventInfo>(*event);
    for (const FaultCopy& each : faults) {
        add_faults(own->masks, each.ids, each.fault, channels, event->ticks);
    }
    return own;
}

} // namespace spng
