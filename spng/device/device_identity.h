// SPDX-License-Identifier: Apache-2.0
#pragma once
// Name and memory of a device that processes share, without loading any CUDA library of LibTorch.

#include <cstdint>
#include <string>

namespace spng {

struct DeviceIdentity {
    std::string name;              ///< "host", "GPU-<uuid>", or "cuda-N" if the driver has no UUID
    std::int64_t total_memory = 0; ///< bytes; 0: unknown
};

/// Return the identity of a device.
/// @param device  as in a job: auto, cpu, cuda, cuda:N, gpuN. N follows CUDA_VISIBLE_DEVICES, the identity
/// does not.
/// @throws Error(Configuration) for another name
DeviceIdentity identity_of(const std::string& device);

} // namespace spng
