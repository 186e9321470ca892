// SPDX-License-Identifier: Apache-2.0
#pragma once
// Watches the output of a network: probabilities, in every event.

#include "spng/core/notes.h"

#include <ATen/core/Tensor.h>

#include <atomic>
#include <string>

namespace spng {

/// Return the least and the largest value, (2) on the device of the values, in one pass; NaN if a value is NaN.
at::Tensor extremes_of(const at::Tensor& values);

/// Looks at the extremes of a network's output. Thread-safe.
class OutputWatch {
public:
    /// @param logger   name of the component, for the log
    /// @param model    file of the network
    /// @param is_error whether values that are no probabilities are an error, else a warning
    OutputWatch(std::string logger, std::string model, bool is_error);

    /// @param extremes  of extremes_of(), on the host
    /// @return the note "network_output" if the values are no probabilities, else nothing
    /// @throws Error(Model) instead if that is an error
    Notes observe(const at::Tensor& extremes);

private:
    const std::string m_logger;
    const std::string m_model;
    const bool m_is_error;
    std::atomic<bool> m_warned{false};
};

} // namespace spng
