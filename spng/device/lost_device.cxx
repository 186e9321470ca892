// SPDX-License-Identifier: Apache-2.0
#include "spng/device/lost_device.h"

#include "spng/device/event_stream.h"

#include <c10/util/Exception.h>

#include <string>

namespace spng {
namespace {

/// Return true if waiting failed only because another thread captures a CUDA graph. The device then works.
bool speaks_of_capture(const std::string& text) {
    return text.find("captur") != std::string::npos;
}

} // namespace

std::optional<Error> lost_device_error(c10::Device device, const Error& failure) {
    if (device.is_cpu()) {
        return std::nullopt;
    }
    try {
        wait_for_device(device);
        return std::nullopt;
    } catch (const c10::Error& error) {
        const std::string text = error.what_without_backtrace();
        const std::string reason = text.substr(0, text.find('\n')); // the others are about debugging
        if (speaks_of_capture(reason)) {
            return std::nullopt;
        }
        return Error(ErrorKind::Device,
                     {.what = "the device " + device.str() + " stopped working",
                      .where = failure.text().where,
                      .seen = reason,
                      .expected = "a working device; no further event can be processed",
                      .hint = "the events completed before are in the output; see the system's log for the "
                              "cause (dmesg | grep -i xid, nvidia-smi), then run the rest again"});
    }
}

} // namespace spng
