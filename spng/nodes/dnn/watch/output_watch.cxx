// SPDX-License-Identifier: Apache-2.0
#include "spng/nodes/dnn/watch/output_watch.h"

#include "spng/core/error.h"
#include "spng/core/log/log.h"

#include <ATen/ops/aminmax.h>
#include <ATen/ops/empty.h>
#include <c10/util/StringUtil.h>

#include <utility>

namespace spng {

at::Tensor extremes_of(const at::Tensor& values) {
    at::Tensor extremes = at::empty({2}, values.options());
    at::Tensor lowest = extremes.select(0, 0), highest = extremes.select(0, 1);
    at::aminmax_out(lowest, highest, values);
    return extremes;
}

OutputWatch::OutputWatch(std::string logger, std::string model, bool is_error)
    : m_logger(std::move(logger)), m_model(std::move(model)), m_is_error(is_error) {}

Notes OutputWatch::observe(const at::Tensor& extremes) {
    const at::Tensor values = extremes.to(at::kDouble);
    const double lowest = values.const_data_ptr<double>()[0], highest = values.const_data_ptr<double>()[1];
    if (lowest >= 0 && highest <= 1) { // false for NaN
        return {};
    }
    const std::string seen = lowest <= highest ? c10::str("values from ", lowest, " to ", highest) : "NaN";
    if (m_is_error) {
        throw Error(ErrorKind::Model,
                    {.what = "the output of the network is no probability",
                     .where = m_model,
                     .seen = seen,
                     .expected = "values from 0 to 1",
                     .hint =
                         "a network that gives logits needs a sigmoid at its end; -A network_output=warning "
                         "processes such events and notes it"});
    }
    const std::string line = m_model + " gives " + seen + ", expected 0 to 1; thresholds need probabilities";
    if (!m_warned.exchange(true)) {
        log::warn(m_logger, line);
    }
    return {{"network_output", seen + ", expected 0 to 1"}, {"warnings", line}};
}

} // namespace spng
