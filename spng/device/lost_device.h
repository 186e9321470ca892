// SPDX-License-Identifier: Apache-2.0
#pragma once
// Detect a lost device. A device that fails during use (a fault in a kernel, a card that fell off the bus)
// stays unusable for the whole process: every later call fails too. Such a failure must end the run; it must
// not count as the failure of one event.

#include "spng/core/error.h"

#include <c10/core/Device.h>

#include <optional>
#include <string>

namespace spng {

/// Wait for the device to find out whether it still works. Work of another thread that captures is waited for, at most
/// some 10 s; after that the device counts as working.
/// @return nothing if it works or is the CPU; else the device's own text, one line
std::optional<std::string> loss_of(c10::Device device);

/// Whether loss_of() has found this device lost during the present run.
bool is_known_lost(c10::Device device);

/// Check after a failed event, by waiting for the device, whether the device still works.
/// @param failure  the error of the event
/// @return nothing if the device works or is the CPU: the failure belongs to the event. Else the error to
/// report, with the device's own text and the location of `failure`.
std::optional<Error> lost_device_error(c10::Device device, const Error& failure);

/// Keeps LibTorch's warnings about failed CUDA calls from stderr during a run. Destructors give them, one for
/// each event and graph of a lost device, whose loss is reported as an error. They are counted; at the end of the
/// run one log line has the count: a warning, or for a lost device an info. Later ones are dropped after a loss,
/// and otherwise printed by LibTorch. Other warnings of LibTorch are printed as ever.
class DeviceWarnings {
public:
    DeviceWarnings();
    ~DeviceWarnings();
    DeviceWarnings(const DeviceWarnings&) = delete;
    DeviceWarnings& operator=(const DeviceWarnings&) = delete;

    /// Include the warnings of the calling thread, from now until it ends.
    static void include_this_thread() noexcept;
};

} // namespace spng
