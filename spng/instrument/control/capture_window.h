// SPDX-License-Identifier: Apache-2.0
#pragma once
// Capture window for external profilers: `nsys profile -c cudaProfilerApi`, `ncu --profile-from-start off`.

namespace spng {

/// Lets a profiler that waits for cudaProfilerStart record from construction to destruction. Does nothing without a
/// loaded CUDA runtime. Capture windows do not nest: cudaProfilerStop ends all of them.
class CaptureWindow {
public:
    CaptureWindow();
    ~CaptureWindow();
    CaptureWindow(const CaptureWindow&) = delete;
    CaptureWindow& operator=(const CaptureWindow&) = delete;

    /// Whether the CUDA runtime accepted the start.
    bool is_open() const { return m_is_open; }

private:
    bool m_is_open;
};

} // namespace spng
