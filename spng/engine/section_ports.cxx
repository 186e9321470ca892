// SPDX-License-Identifier: Apache-2.0
#include "spng/engine/section_ports.h"

#include "spng/nodes/roi/compacted_rows.h"

#include <ATen/ops/clone.h>

#include <algorithm>
#include <map>
#include <string>
#include <type_traits>
#include <utility>

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
        add(tensor.name);
        add(tensor.unit);
        add(tensor.domain);
        add(tensor.data, all);
        add(tensor.compacted.has_value());
        if (tensor.compacted) {
            add(tensor.compacted->mask, all);
            add(tensor.compacted->factor);
        }
        add(tensor.summary, all);
        add(tensor.pedestal, all);
        add(tensor.packed_samples);
        add(tensor.axes.size());
        for (const auto& axis : tensor.axes) {
            add(axis.name);
            add(axis.unit);
            add(axis.period);
            add(is_time(axis) ? 0 : axis.start);
        }
        add(tensor.notes.size());
        for (const auto& [key, note] : tensor.notes) {
            add(key);
            add(note);
        }
        add(std::find(tables.begin(), tables.end(), tensor.channels) - tables.begin());
    }

    void add(const ChannelTable& table, const std::vector<at::Tensor>& all) {
        add(c10::ArrayRef(table.views));
        add(c10::ArrayRef(table.planes));
        // Tables of a detector are made once, so equal tables share memory.
        add(table.ids.defined() ? table.ids.const_data_ptr() : nullptr);
        add(table.ids, all);
        add(table.good, all);
    }

    std::string text() && { return std::move(m_text); }

private:
    std::string m_text;
};

/// Copies tensors; equal tensor objects share a copy.
class Copies {
public:
    at::Tensor of(const at::Tensor& tensor) {
        if (!tensor.defined()) {
            return tensor;
        }
        at::Tensor& copy = m_copies[tensor.unsafeGetTensorImpl()];
        if (!copy.defined()) {
            copy = tensor.clone();
        }
        return copy;
    }

    /// Replace the data of a tensor by a copy, and its ROIs if its rows are compacted.
    void copy_data(NamedTensor& tensor) {
        if (tensor.compacted) {
            at::Tensor& copy = m_copies[tensor.data.unsafeGetTensorImpl()];
            if (!copy.defined()) {
                copy = copy_compacted(tensor.data, tensor.compacted->mask, tensor.compacted->factor);
            }
            tensor.data = copy;
            tensor.compacted->mask = of(tensor.compacted->mask);
        } else {
            tensor.data = of(tensor.data);
        }
    }

private:
    std::map<const c10::TensorImpl*, at::Tensor> m_copies;
};

/// Copy the tensors of a set. table_for: the channel table of a copy.
template <class TableFor>
std::vector<NamedTensor> copied(const TensorSet& set, Copies& copies, const TableFor& table_for) {
    std::vector<NamedTensor> tensors = set.tensors();
    for (auto& tensor : tensors) {
        copies.copy_data(tensor);
        tensor.summary = copies.of(tensor.summary);
        tensor.pedestal = copies.of(tensor.pedestal);
        tensor.channels = tensor.channels ? table_for(tensor.channels) : nullptr;
    }
    return tensors;
}

} // namespace

std::vector<at::Tensor> tensors_of(const Ports& ports) {
    std::vector<at::Tensor> tensors;
    const auto add = [&](const at::Tensor& tensor) {
        const bool known = std::any_of(tensors.begin(), tensors.end(),
                                       [&](const at::Tensor& other) { return other.is_same(tensor); });
        if (tensor.defined() && !known) {
            tensors.push_back(tensor);
        }
    };
    for (const auto& set : ports) {
        for (const auto& tensor : set->tensors()) {
            add(tensor.data);
            add(tensor.compacted ? tensor.compacted->mask : at::Tensor());
            add(tensor.summary);
            add(tensor.pedestal);
        }
    }
    for (const auto& table : tables_of(ports)) {
        add(table->good);
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
    for (const double time : times) {
        key.add(first_equal(times, time));
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

StaticInputs::StaticInputs(const Ports& inputs) {
    Copies copies;
    std::map<const ChannelTable*, std::shared_ptr<const ChannelTable>> tables;
    for (const auto& table : tables_of(inputs)) {
        auto copy = std::make_shared<ChannelTable>(*table);
        copy->good = copies.of(table->good);
        tables[table.get()] = std::move(copy);
    }
    const auto table_for = [&](const std::shared_ptr<const ChannelTable>& table) {
        return tables.at(table.get());
    };
    // Findings keep the samples of their event, and these sets live as long as the capture.
    auto event = std::make_shared<EventInfo>(inputs.front()->event());
    event->findings.reset();
    for (const auto& set : inputs) {
        std::vector<NamedTensor> tensors = copied(*set, copies, table_for);
        m_ports.push_back(std::make_shared<const TensorSet>(event, std::move(tensors)));
    }
    m_tensors = tensors_of(m_ports);
}

void StaticInputs::load(const Ports& inputs) {
    const auto tensors = tensors_of(inputs);
    for (std::size_t i = 0; i < m_tensors.size(); ++i) {
        m_tensors[i].copy_(tensors.at(i), /*non_blocking=*/true);
    }
}

OutputTemplate::OutputTemplate(const Ports& inputs, Ports outputs)
    : m_inputs(inputs), m_outputs(std::move(outputs)) {
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
    const auto table_for = [&](const std::shared_ptr<const ChannelTable>& old) {
        auto& table = new_tables[old.get()];
        const auto found = std::find(old_tables.begin(), old_tables.end(), old);
        if (!table && found != old_tables.end()) {
            table = tables.at(static_cast<std::size_t>(found - old_tables.begin()));
        } else if (!table) { // a node made it
            auto copy = std::make_shared<ChannelTable>(*old);
            copy->good = copies.of(old->good);
            table = std::move(copy);
        }
        return table;
    };
    Ports outputs;
    for (const auto& set : m_outputs) {
        std::vector<NamedTensor> tensors = copied(*set, copies, table_for);
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
