// SPDX-License-Identifier: Apache-2.0
#include "spng/graph/device_section.h"

#include "spng/graph/node.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace spng {
namespace {

/// Sets of slots.
using Slots = std::vector<bool>;

bool any_in(const std::vector<std::size_t>& slots, const Slots& marked) {
    return std::any_of(slots.begin(), slots.end(), [&](std::size_t slot) { return marked[slot]; });
}

void mark(const std::vector<std::size_t>& slots, Slots& marked) {
    for (const std::size_t slot : slots) {
        marked[slot] = true;
    }
}

} // namespace

DeviceSection find_device_section(const Parts& parts) {
    DeviceSection section;
    Slots uploaded(parts.slots), made(parts.slots), after(parts.slots), is_read(parts.slots),
        is_kept = parts.leaves;
    for (const Step& step : parts.body) { // in topological order
        const bool is_behind = any_in(step.inputs, made) || any_in(step.inputs, after);
        const bool is_captured = step.node->registered().is_captured && !any_in(step.inputs, after);
        if (step.starter != nullptr) {
            section.before.push_back(&step);
            mark(step.outputs, uploaded);
        } else if (is_captured && (is_behind || any_in(step.inputs, uploaded))) {
            section.inside.push_back(&step);
            std::copy_if(step.inputs.begin(), step.inputs.end(), std::back_inserter(section.entering),
                         [&](std::size_t slot) { return !made[slot]; });
            mark(step.outputs, made);
            if (const std::string reason = step.node->capture_rejection();
                !reason.empty() && section.rejection.empty()) {
                section.rejection = step.node->name().text() + ": " + reason;
            }
        } else if (is_behind) {
            section.after.push_back(&step);
            mark(step.outputs, after);
            mark(step.inputs, is_read);
            if (step.node->registered().is_captured) {
                mark(step.inputs, is_kept);
            }
        } else {
            section.before.push_back(&step);
        }
    }
    for (std::size_t slot = 0; slot < parts.slots; ++slot) {
        if (made[slot] && (is_read[slot] || parts.leaves[slot])) {
            section.leaving.push_back({slot, !is_kept[slot]});
        }
    }
    if (section.inside.empty()) {
        section.rejection = "the graph has nothing between an upload and the packing of frames";
    }
    return section;
}

} // namespace spng
