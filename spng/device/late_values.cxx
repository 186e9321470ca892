// SPDX-License-Identifier: Apache-2.0
#include "spng/device/late_values.h"

#include "spng/device/device_graph.h"
#include "spng/device/host_copy.h"

#include <algorithm>
#include <limits>

namespace spng {
namespace {

int first_channel(const LateValue& value) {
    const at::Tensor& channels = value.channels();
    return channels.numel() == 0 ? std::numeric_limits<int>::max() : *channels.const_data_ptr<std::int32_t>();
}

} // namespace

const Notes& LateValue::notes() {
    const std::lock_guard lock(m_mutex);
    if (!m_notes) {
        m_notes = m_reader(m_values);
    }
    return *m_notes;
}

void LateValues::add(const std::string& node, const at::Tensor& values, at::Tensor channels,
                     LateValue::Reader reader) {
    auto value = std::make_shared<LateValue>(is_capturing() ? values : begin_copy_to_host(values),
                                             std::move(channels), std::move(reader));
    const std::lock_guard lock(m_mutex);
    m_values.insert_or_assign(node, std::move(value));
}

std::vector<std::shared_ptr<LateValue>> LateValues::all() const {
    std::vector<std::shared_ptr<LateValue>> values;
    for (auto& [node, value] : by_node()) {
        values.push_back(value);
    }
    std::stable_sort(values.begin(), values.end(), [](const auto& left, const auto& right) {
        return first_channel(*left) < first_channel(*right);
    });
    return values;
}

std::map<std::string, std::shared_ptr<LateValue>> LateValues::by_node() const {
    const std::lock_guard lock(m_mutex);
    return m_values;
}

} // namespace spng
