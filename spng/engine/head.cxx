// SPDX-License-Identifier: Apache-2.0
#include "spng/engine/head.h"

#include "spng/device/memory/out_of_memory.h"
#include "spng/instrument/recording.h"

#include <algorithm>

namespace spng {

bool Head::at_end() const {
    return std::any_of(m_parts.head.begin(), m_parts.head.end(),
                       [](const Step& step) { return step.node->at_end(); });
}

bool Head::must_wait() const {
    return std::any_of(m_parts.head.begin(), m_parts.head.end(),
                       [](const Step& step) { return step.node->must_wait(); });
}

Head::Poll Head::poll(HostEvent& event) {
    const instrument::recording::EventOnThread on_thread(event.index);
    event.sets.resize(m_parts.slots);
    Poll result = Poll::event;
    for (const Step& step : m_parts.head) {
        try {
            Ports sets = step.node->call(event.index, {}, m_state.options().meter_mode);
            for (std::size_t port = 0; port < step.outputs.size(); ++port) {
                if (sets.at(port) == nullptr) {
                    return Poll::ended;
                }
                event.sets[step.outputs[port]] = std::move(sets[port]);
            }
        } catch (...) {
            const Error error = current_error();
            if (result == Poll::event) {
                m_state.failed(event.index, error);
            }
            result = Poll::failed; // the other sources go on to the next event, too
        }
    }
    return result;
}

} // namespace spng
