// SPDX-License-Identifier: Apache-2.0
#pragma once
// Parse the devices over which a job spreads its events: `auto`, `cpu`, `cuda:1`, `cuda:all`,
// `cuda:0,cuda:1`, `cpu,cpu`.

#include <string>
#include <vector>

namespace spng {

/// Return the names between the commas; `cuda:all` stays unchanged. Does not query any device.
/// @param where  component and key, for the message
/// @throws Error(Configuration) for an invalid name, and for devices of different kinds: each event goes to
/// the next free device, so results would depend on timing
std::vector<std::string> listed_devices(const std::string& text, const std::string& where);

/// Return the index of a CUDA device from its name: "cuda" and "gpu" are 0; "cuda:2", "gpu:2", "gpu2" are 2.
/// @param where  component and key, for the message
/// @throws Error(Configuration) for any other name
int cuda_index(const std::string& name, const std::string& where);

/// Return one name per replica of the graph: the list with `cuda:all` (or `gpu:all`) replaced by all devices
/// of the driver. A device that is named twice gets two replicas.
/// @throws Error(Device) if `cuda:all` finds no device, and as listed_devices()
std::vector<std::string> replica_devices(const std::string& text, const std::string& where);

} // namespace spng
