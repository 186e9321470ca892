// SPDX-License-Identifier: Apache-2.0
#include "spng/device/memory/allocator_history.h"

namespace spng {
namespace {

// Used by the main thread only, while it sets up, prepares and ends the job.
AllocatorHistory functions{};
bool is_requested = false;
bool is_on = false;

} // namespace

void set_allocator_history(AllocatorHistory history) {
    functions = history;
}

void request_allocator_history() {
    is_requested = true;
}

void start_requested_allocator_history() {
    if (is_requested && !is_on && functions.start != nullptr) {
        functions.start();
        is_on = true;
    }
}

bool allocator_history_is_on() {
    return is_on;
}

std::string allocator_snapshot() {
    return functions.snapshot();
}

} // namespace spng
