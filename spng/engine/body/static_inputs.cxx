// SPDX-License-Identifier: Apache-2.0
#include "spng/engine/body/static_inputs.h"

#include "spng/device/host_copy.h"
#include "spng/engine/body/replaced_tensors.h"
#include "spng/engine/body/section_ports.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace spng {
namespace {

/// Takes tensors to a device. Tensors of that device stay as they are, or are copied.
class OnDevice {
public:
    OnDevice(c10::Device device, bool copies) : m_device(device), m_copies_all(copies) {}

    at::Tensor of(const at::Tensor& tensor) {
        if (!tensor.defined() || tensor.device() == m_device) {
            return m_copies_all ? m_copies.of(tensor) : tensor;
        }
        at::Tensor& there = m_uploads[tensor.unsafeGetTensorImpl()];
        if (!there.defined()) {
            there = at::empty(tensor.sizes(), tensor.options().device(m_device).pinned_memory(false));
            begin_copy_to_device(tensor, there);
        }
        return there;
    }
    at::Tensor rows_of(const NamedTensor& tensor) {
        return m_copies_all && tensor.compacted() ? m_copies.rows_of(tensor) : of(tensor.data);
    }

private:
    c10::Device m_device;
    bool m_copies_all;
    Copies m_copies;
    std::map<const c10::TensorImpl*, at::Tensor> m_uploads;
};

/// Sets with replaced tensors and this event.
Ports replaced_sets(const Ports& sets, OnDevice by, const std::shared_ptr<const EventInfo>& event) {
    std::map<const ChannelTable*, std::shared_ptr<const ChannelTable>> tables;
    for (const auto& table : tables_of(sets)) {
        tables[table.get()] = replaced(*table, by);
    }
    const auto table_for = [&](const std::shared_ptr<const ChannelTable>& table) {
        return tables.at(table.get());
    };
    Ports made;
    for (const auto& set : sets) {
        made.push_back(std::make_shared<const TensorSet>(event, replaced(*set, by, table_for)));
    }
    return made;
}

/// The sets at times of which none is 0, so that an output that begins at 0 is told from one that begins with the event.
Ports at_times_after_0(const Ports& sets) {
    const auto times = times_of(sets);
    const auto is_0 = std::find(times.begin() + 1, times.end(), 0.) != times.end();
    double shift = 0;
    for (const double time : times) {
        shift = is_0 ? std::max(shift, std::abs(time) + 1) : 0;
    }
    auto event = std::make_shared<EventInfo>(sets.front()->event());
    event->start += shift;
    Ports shifted;
    for (const auto& set : sets) {
        std::vector<NamedTensor> tensors = set->tensors();
        for (auto& tensor : tensors) {
            for (auto& axis : tensor.axes) {
                axis.start += is_time(axis) ? shift : 0;
            }
        }
        shifted.push_back(std::make_shared<const TensorSet>(event, std::move(tensors)));
    }
    return shifted;
}

} // namespace

Ports uploaded(const Ports& sets, c10::Device device) {
    const auto tensors = tensors_of(sets);
    const bool are_there = std::all_of(tensors.begin(), tensors.end(),
                                       [&](const at::Tensor& tensor) { return tensor.device() == device; });
    return are_there ? sets : replaced_sets(sets, OnDevice(device, false), sets.front()->event_ptr());
}

StaticInputs::StaticInputs(const Ports& inputs, c10::Device device)
    : m_ports(at_times_after_0(replaced_sets(inputs, OnDevice(device, true), inputs.front()->event_ptr()))),
      m_tensors(tensors_of(m_ports)) {
    m_loaded.resize(m_tensors.size(), decltype(m_loaded)::value_type(at::Tensor().getIntrusivePtr()));
}

void StaticInputs::load(const Ports& inputs) {
    const auto tensors = tensors_of(inputs);
    for (std::size_t i = 0; i < m_tensors.size(); ++i) {
        const at::Tensor& tensor = tensors.at(i);
        if (tensor.device() != m_tensors[i].device()) {
            begin_copy_to_device(tensor, m_tensors[i]);
        } else if (m_loaded[i].lock() != tensor.getIntrusivePtr()) {
            m_tensors[i].copy_(tensor, /*non_blocking=*/true);
            m_loaded[i] = tensor.getIntrusivePtr();
        }
    }
}

} // namespace spng
