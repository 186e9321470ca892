// SPDX-License-Identifier: Apache-2.0
#pragma once
// The machine of a run, and the maximum memory of the run.

#include <c10/core/Device.h>

#include <cstdint>
#include <string>

namespace spng::instrument {

struct Machine {
    std::string host;
    std::string system; ///< kernel name and release
    std::string cpu;    ///< model, "unknown" where the system does not tell
    unsigned cores = 0; ///< that this process may use
};

Machine this_machine();

/// Highest resident memory of this process since its program began, in bytes; not_measured (-1) where /proc
/// does not tell.
std::int64_t process_peak_bytes();

/// Highest sum of memory that tensors held on a device so far; not_measured (-1) on the CPU, and where the
/// device's allocator keeps no statistics.
std::int64_t device_peak_bytes(c10::Device device);

} // namespace spng::instrument
