#pragma once
// A device that fails while it is used (a kernel that ran into a fault, a card that fell off the bus) stays
// unusable for the whole process: every later call fails too. Such a failure must end the run rather than be
// counted as that of one event.

#include "spng/core/error.h"

#include <c10/core/Device.h>

#include <optional>

namespace spng {

/// After a failure: ask the device whether it still works, by waiting for it.
/// @param failure  what an event failed with
/// @return nothing when the device answers (or is the CPU): the failure is then the event's own; else the
///         error to report, with the device's own words and the place of `failure`
std::optional<Error> lost_device_error(c10::Device device, const Error& failure);

} // namespace spng
