#pragma once
// The part of a run that an external profiler is to see: `nsys profile -c cudaProfilerApi`, `ncu
// --profile-from-start off`.

namespace spng {

/// From its construction to its destruction a profiler that waits for cudaProfilerStart records. Does nothing
/// where no CUDA runtime is loaded. Windows do not nest: cudaProfilerStop ends all of them.
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
