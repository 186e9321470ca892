// SPDX-License-Identifier: Apache-2.0
#include "spng/engine/body/port_key.h"

#include "spng/core/tensor_visitor.h"
#include "spng/engine/body/section_ports.h"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace spng {
namespace {

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

} // namespace

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

} // namespace spng
