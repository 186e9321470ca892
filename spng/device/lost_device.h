// SPDX-License-Identifier: Apache-2.0
#pragma once
// Detect a lost device. A device that fails during use (a fault in a kernel, a card that fell off the bus)
// stays unusable for the whole process: every later call fails too. Such a failure must end the run; it must
// not count as the failure of one event.

#include "spng/core/error.h"

#include <c10/core/Device.h>

#include <optional>

namespace spng {

/// Check after a failed event, by waiting for the device, whether the device still works.
/// @param failure  the error of the event
/// @return nothing if the device works or is the CPU: the failure belongs to the event. Else the error to
/// report, with the device's own text and the location of `failure`.
std::optional<Error> lost_device_error(c10::Device device, const Error& failure);

} // namespace spng
