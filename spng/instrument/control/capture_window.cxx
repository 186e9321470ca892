// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/control/capture_window.h"

#include "spng/instrument/capture_range.h"

namespace spng {

CaptureWindow::CaptureWindow() : m_is_open(instrument::start_device_profiler()) {}

CaptureWindow::~CaptureWindow() {
    if (m_is_open) {
        instrument::stop_device_profiler();
    }
}

} // namespace spng
