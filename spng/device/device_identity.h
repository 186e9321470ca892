#pragma once
// By which name processes know a device that they share, and how much memory it has, before any CUDA library
// of torch is loaded.

#include <cstdint>
#include <string>

namespace spng {

struct DeviceIdentity {
    std::string name;              ///< "host", "GPU-<uuid>", or "cuda-N" where the driver does not tell
    std::int64_t total_memory = 0; ///< bytes; 0: unknown
};

/// @param device  as a job names it: auto, cpu, cuda, cuda:N, gpuN. Numbers follow CUDA_VISIBLE_DEVICES, the
///                name does not. Throws Error(Configuration) for another name.
DeviceIdentity identity_of(const std::string& device);

} // namespace spng
