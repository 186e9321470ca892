// SPDX-License-Identifier: Apache-2.0
#pragma once
// The outputs of a captured device section, for each event that uses the capture.

#include "spng/graph/node.h"

#include <string>
#include <vector>

namespace spng {

/// Outputs for the event of StaticInputs, as a template for other events.
class OutputTemplate {
public:
    /// @param inputs   StaticInputs::ports()
    /// @param outputs  of the nodes for these inputs
    /// @param is_lent  by port: sets of fill() have the tensors of `outputs` themselves
    OutputTemplate(const Ports& inputs, Ports outputs, std::vector<bool> is_lent);

    /// Reason why these outputs cannot be a template; empty if they can.
    const std::string& rejection() const { return m_rejection; }

    /// Make the sets for the event of `inputs`: the output tensors, or queued copies of them, with the event, the
    /// times and the channel tables of `inputs`.
    Ports fill(const Ports& inputs) const;

private:
    Ports m_inputs;
    Ports m_outputs;
    std::vector<bool> m_is_lent;
    std::string m_rejection;
};

} // namespace spng
