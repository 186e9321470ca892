#pragma once
// The devices that a job spreads its events over, as users write them: `auto`, `cpu`, `cuda:1`, `cuda:all`,
// `cuda:0,cuda:1`, `cpu,cpu`.

#include <string>
#include <vector>

namespace spng {

/// The names between the commas; `cuda:all` stays as it is. Asks no device.
/// @param where  component and key, for the message
/// Throws Error(Configuration) for a name that is none of a device, and for names of different kinds: events
/// are handed to whichever device is free, so their results would depend on timing.
std::vector<std::string> listed_devices(const std::string& text, const std::string& where);

/// The number of a CUDA device by its name: "cuda" and "gpu" are 0; "cuda:2", "gpu:2", "gpu2" are 2.
/// @param where  as above
/// Throws Error(Configuration) for anything else.
int cuda_number(const std::string& name, const std::string& where);

/// One name per replica of the graph: the list with `cuda:all` (or `gpu:all`) replaced by all devices that the
/// driver shows. A device that is named twice gets two replicas.
/// Throws as listed_devices, and Error(Device) where `cuda:all` finds no device.
std::vector<std::string> replica_devices(const std::string& text, const std::string& where);

} // namespace spng
