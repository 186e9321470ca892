// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/control/capture_window.h"

#include "spng/instrument/cuda_runtime.h"

namespace spng {

CaptureWindow::CaptureWindow() {
    const auto* const runtime = instrument::cuda_runtime();
    m_is_open = runtime != nullptr && runtime->profiler_start() == 0;
}

CaptureWindow::~CaptureWindow() {
    if (m_is_open) {
        instrument::cuda_runtime()->profiler_stop();
    }
}

} // namespace spng
