#pragma once
// On what a run was measured, and how much memory it took at most.

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

/// Highest resident memory of this process so far, in bytes.
std::int64_t process_peak_bytes();

/// Highest sum of memory that tensors held on a device so far; not_measured (-1) on the CPU, and where the
/// device's allocator keeps no statistics.
std::int64_t device_peak_bytes(c10::Device device);

} // namespace spng::instrument
