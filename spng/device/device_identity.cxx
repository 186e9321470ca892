// SPDX-License-Identifier: Apache-2.0
#include "spng/device/device_identity.h"

#include "spng/device/cuda_driver.h"
#include "spng/device/cuda_plugin.h"
#include "spng/device/device_list.h"
#include "spng/device/memory/device_memory.h"

#include <algorithm>

namespace spng {

DeviceIdentity identity_of(const std::string& device) {
    if (device == "cpu" || (device == "auto" && cuda_device_count() == 0)) {
        return {"host", std::max<std::int64_t>(device_memory(c10::kCPU).total, 0)};
    }
    const int index = device == "auto" ? 0 : cuda_index(device, "device");
    const std::string uuid = uuid_of(index);
    return {uuid.empty() ? "cuda-" + std::to_string(index) : uuid, total_memory_of(index)};
}

} // namespace spng
