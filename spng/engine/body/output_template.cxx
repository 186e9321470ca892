// SPDX-License-Identifier: Apache-2.0
#include "spng/engine/body/output_template.h"

#include "spng/engine/body/replaced_tensors.h"
#include "spng/engine/body/section_ports.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

namespace spng {
namespace {

std::size_t first_equal(const std::vector<double>& times, double time) {
    return static_cast<std::size_t>(std::find(times.begin(), times.end(), time) - times.begin());
}

} // namespace

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
