// SPDX-License-Identifier: Apache-2.0
#include "spng/graph/reported.h"

#include "spng/device/host_copy.h"
#include "spng/instrument/meter/unmeasured.h"

#include <utility>

namespace spng {

Report copied(Report report) {
    if (!instrument::Unmeasured::is_on()) {
        report.on_host = begin_copy_to_host(report.values);
    }
    return report;
}

Notes reported(const std::string& node, const at::Tensor& values, const at::Tensor& channels,
               std::function<Notes(const at::Tensor& values)> read, Reports& reports) {
    if (values.is_cpu()) {
        return instrument::Unmeasured::is_on() ? Notes{} : read(values);
    }
    reports.push_back(
        std::make_shared<const Report>(copied({.node = node,
                                               .values = values,
                                               .channels = channels,
                                               .read = [read = std::move(read)](const at::Tensor& on_host) {
                                                   return Found{.notes = read(on_host)};
                                               }})));
    return {};
}

} // namespace spng
