// SPDX-License-Identifier: Apache-2.0
#include "spng/engine/body/section_ports.h"

#include "spng/core/rows/compacted_rows.h"
#include "spng/core/tensor_visitor.h"
#include "spng/device/host_copy.h"

#include <ATen/ops/clone.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace spng {
namespace {

using Tables = std::vector<std::shared_ptr<const ChannelTable>>;

Tables tables_of(const Ports& ports) {
    Tables tables;
    for (const auto& set : ports) {
        for (const auto& tensor : set->tensors()) {
            if (tensor.channels && std::find(tables.begin(), tables.end(), tensor.channels) == tables.end()) {
                tables.push_back(tensor.channels);
            }
        }
    }
    return tables;
}

bool is_time(const Axis& axis) {
    return axis.unit == "ns";
}

/// Times at which an axis may start.
std::vector<double> times_of(const Ports& inputs) {
    const EventInfo& event = inputs.front()->event();
    std::vector<double> times{0, event.start, event.start + event.first_tick * event.tick};
    for (const auto& set : inputs) {
        for (const auto& tensor : set->tensors()) {
            for (const auto& axis : tensor.axes) {
                if (is_time(axis)) {
                    times.push_back(axis.start);
                }
            }
        }
    }
    return times;
}

std::size_t first_equal(const std::vector<double>& times, double time) {
    return static_cast<std::size_t>(std::find(times.begin(), times.end(), time) - times.begin());
}

/// Text that is equal for equal values only. It is made for each event, so numbers are appended as their bytes.
class Key {
public:
    /// Append a number, a pointer or an enumerator.
    template <class Value>
        requires std::is_scalar_v<Value>
    void add(Value value) {
        m_text.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    void add(const std::string& text) {
        add(text.size());
        m_text += text;
    }
    template <class Value>
    void add(c10::ArrayRef<Value> values) {
        add(values.size());
        for (const auto& value : values) {
            add(value);
        }
    }

    /// @param all  all tensors of the sets
    void add(const at::Tensor& tensor, const std::vector<at::Tensor>& all) {
        add(tensor.defined());
        if (tensor.defined()) {
            add(std::find_if(all.begin(), all.end(),
                             [&](const at::Tensor& other) { return other.is_same(tensor); }) -
                all.begin());
            add(tensor.scalar_type());
            add(tensor.device().type());
            add(tensor.device().index());
            add(tensor.sizes());
            add(tensor.strides());
        }
    }

    void add(const NamedTensor& tensor, const Tables& tables, const std::vector<at::Tensor>& all) {
        const auto& [name, data, encoding, axes, unit, domain, channels, summary, pedestal, expected_noise,
                     notes] = tensor;
        add(name);
        add(unit);
        add(domain);
        for_each_tensor(tensor, [&](const at::Tensor& each, TensorRole) { add(each, all); });
        add(encoding.index());
        std::visit([&](const auto& encoded) { add_values(encoded); }, encoding);
        add(axes.size());
        for (const auto& axis : axes) {
            add(axis.name);
            add(axis.unit);
            add(axis.period);
            add(is_time(axis) ? 0 : axis.start);
        }
        add(notes.size());
        for (const auto& [key, note] : notes) {
            add(key);
            add(note);
        }
        add(std::find(tables.begin(), tables.end(), channels) - tables.begin());
    }

    void add(const ChannelTable& table, const std::vector<at::Tensor>& all) {
        const auto& [views, planes, ids, first_row, good, fault, bad_ticks] = table;
        add(c10::ArrayRef(views));
        add(c10::ArrayRef(planes));
        // Tables of a detector are made once, so equal tables share memory.
        add(ids.defined() ? ids.const_data_ptr() : nullptr);
        add(first_row);
        for_each_tensor(table, [&](const at::Tensor& each, TensorRole) { add(each, all); });
        add(bad_ticks.size());
        for (const auto& [mask, period, ticks] : bad_ticks) {
            add(mask);
            add(period);
        }
    }

    std::string text() && { return std::move(m_text); }

private:
    void add_values(const DenseSamples&) {}
    void add_values(const PackedMask& mask) { add(mask.samples); }
    void add_values(const CompactedRows& rows) { add(rows.factor); }
    void add_values(const SparseSamples& sparse) {
        add(sparse.rows);
        add(sparse.ticks);
    }

    std::string m_text;
};

/// Copies tensors; equal tensor objects share a copy.
class Copies {
public:
    at::Tensor of(const at::Tensor& tensor) {
        return make(tensor, [&] { return tensor.clone(); });
    }

    /// The rows of a tensor; of compacted rows only what is inside their ROIs.
    at::Tensor rows_of(const NamedTensor& tensor) {
        return make(tensor.data, [&] {
            const auto* compacted = tensor.compacted();
            return compacted ? copy_compacted(tensor.data, compacted->mask, compacted->factor)
                             : tensor.data.clone();
        });
    }

private:
    template <class Make>
    at::Tensor make(const at::Tensor& tensor, const Make& copy_of) {
        if (!tensor.defined()) {
            return tensor;
        }
        at::Tensor& copy = m_copies[tensor.unsafeGetTensorImpl()];
        if (!copy.defined()) {
            copy = copy_of();
        }
        return copy;
    }

    std::map<const c10::TensorImpl*, at::Tensor> m_copies;
};

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

/// Replace the tensors of a set. table_for: the channel table of a replacement.
template <class Replacements, class TableFor>
std::vector<NamedTensor> replaced(const TensorSet& set, Replacements& by, const TableFor& table_for) {
    std::vector<NamedTensor> tensors;
    for (const NamedTensor& old : set.tensors()) {
        NamedTensor& tensor = tensors.emplace_back(old);
        for_each_tensor(tensor, [&](at::Tensor& each, TensorRole role) {
            if (role != TensorRole::host) {
                each = role == TensorRole::samples ? by.rows_of(old) : by.of(each);
            }
        });
        tensor.channels = old.channels ? table_for(old.channels) : nullptr;
    }
    return tensors;
}

template <class Replacements>
std::shared_ptr<const ChannelTable> replaced(const ChannelTable& table, Replacements& by) {
    auto copy = std::make_shared<ChannelTable>(table);
    for_each_tensor(*copy, [&](at::Tensor& each, TensorRole role) {
        if (role != TensorRole::host) {
            each = by.of(each);
        }
    });
    return copy;
}

/// Sets with replaced tensors and this event.
Ports replaced(const Ports& sets, OnDevice by, const std::shared_ptr<const EventInfo>& event) {
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

std::vector<at::Tensor> tensors_of(const Ports& ports) {
    std::vector<at::Tensor> tensors;
    const auto add = [&](const at::Tensor& tensor, TensorRole role) {
        const bool known = std::any_of(tensors.begin(), tensors.end(),
                                       [&](const at::Tensor& other) { return other.is_same(tensor); });
        if (tensor.defined() && role != TensorRole::host && !known) {
            tensors.push_back(tensor);
        }
    };
    for (const auto& set : ports) {
        for (const auto& tensor : set->tensors()) {
            for_each_tensor(tensor, add);
        }
    }
    for (const auto& table : tables_of(ports)) {
        for_each_tensor(*table, add);
    }
    return tensors;
}

std::string port_key(const Ports& inputs) {
    const EventInfo& event = inputs.front()->event();
    Key key;
    key.add(event.tick);
    key.add(event.first_tick);
    key.add(event.ticks);
    key.add(event.window.has_value()); // the output of a readout window includes its ROIs
    const auto times = times_of(inputs);
    for (auto time = times.begin() + 1; time != times.end(); ++time) {
        key.add(std::find(times.begin() + 1, times.end(), *time) - times.begin());
    }
    const Tables tables = tables_of(inputs);
    const auto tensors = tensors_of(inputs);
    for (const auto& set : inputs) {
        key.add(set->tensors().size());
        for (const auto& tensor : set->tensors()) {
            key.add(tensor, tables, tensors);
        }
    }
    for (const auto& table : tables) {
        key.add(*table, tensors);
    }
    return std::move(key).text();
}

Ports uploaded(const Ports& sets, c10::Device device) {
    const auto tensors = tensors_of(sets);
    const bool are_there = std::all_of(tensors.begin(), tensors.end(),
                                       [&](const at::Tensor& tensor) { return tensor.device() == device; });
    return are_there ? sets : replaced(sets, OnDevice(device, false), sets.front()->event_ptr());
}

StaticInputs::StaticInputs(const Ports& inputs, c10::Device device)
    : m_ports(at_times_after_0(replaced(inputs, OnDevice(device, true), inputs.front()->event_ptr()))),
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

OutputTemplate::OutputTemplate(const Ports& inputs, Ports outputs, std::vector<bool> is_lent)
    : m_inputs(inputs), m_outputs(std::move(outputs)), m_is_lent(std::move(is_lent)) {
    const auto times = times_of(m_inputs);
    for (const auto& set : m_outputs) {
        if (set == nullptr || set->event_ptr() != m_inputs.front()->event_ptr()) {
            m_rejection = "a node returned a set of another event than that of its input";
            return;
        }
        for (const auto& tensor : set->tensors()) {
            for (const auto& axis : tensor.axes) {
                if (is_time(axis) && first_equal(times, axis.start) == times.size()) {
                    m_rejection =
                        "the tensor " + tensor.name + " starts at a time that the input does not have";
                }
            }
        }
    }
}

Ports OutputTemplate::fill(const Ports& inputs) const {
    const auto old_times = times_of(m_inputs);
    const auto times = times_of(inputs);
    const Tables old_tables = tables_of(m_inputs);
    const Tables tables = tables_of(inputs);
    Copies copies;
    std::map<const ChannelTable*, std::shared_ptr<const ChannelTable>> new_tables;
    const auto table_of_event = [&](const std::shared_ptr<const ChannelTable>& old) {
        const auto found = std::find(old_tables.begin(), old_tables.end(), old);
        return found == old_tables.end() ? nullptr
                                         : tables.at(static_cast<std::size_t>(found - old_tables.begin()));
    };
    const auto table_for = [&](const std::shared_ptr<const ChannelTable>& old) {
        auto& table = new_tables[old.get()];
        if (!table) {
            table = table_of_event(old);
        }
        if (!table) { // a node made it
            table = replaced(*old, copies);
        }
        return table;
    };
    Ports outputs;
    for (std::size_t port = 0; port < m_outputs.size(); ++port) {
        std::vector<NamedTensor> tensors;
        if (m_is_lent[port]) {
            tensors = m_outputs[port]->tensors();
            for (auto& tensor : tensors) {
                const auto table = table_of_event(tensor.channels);
                tensor.channels = table ? table : tensor.channels;
            }
        } else {
            tensors = replaced(*m_outputs[port], copies, table_for);
        }
        for (auto& tensor : tensors) {
            for (auto& axis : tensor.axes) {
                if (is_time(axis)) {
                    axis.start = times.at(first_equal(old_times, axis.start));
                }
            }
        }
        outputs.push_back(std::make_shared<const TensorSet>(inputs.front()->event_ptr(), std::move(tensors)));
    }
    return outputs;
}

} // namespace spng
