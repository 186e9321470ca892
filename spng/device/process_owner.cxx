// SPDX-License-Identifier: Apache-2.0
#include "spng/device/process_owner.h"

#include <atomic>

namespace spng {
namespace {

std::atomic<bool> is_owner{false};

} // namespace

void own_process() {
    is_owner = true;
}

bool owns_process() {
    return is_owner;
}

} // namespace spng
