#pragma once
// LibTorch's own profiler (Kineto) as a second exporter: traces of ATen operators with shapes, memory and
// source places, for chrome://tracing, Perfetto and TensorBoard. LibTorch's interface for it is not a stable
// one: this file and its source are all that knows it.

#include <c10/core/Device.h>

#include <memory>
#include <string>

namespace spng::instrument {

/// Profiles the thread that opens the window, and on a device all of its work, until the window closes. Each
/// window is a file <host>_<process>.<number>.pt.trace.json in the folder, named when it is complete.
class TorchProfiler {
public:
    /// @param folder  made when it is not there. Throws Error(Output) when it cannot be written into.
    TorchProfiler(const std::string& folder, c10::Device device);
    ~TorchProfiler();
    TorchProfiler(const TorchProfiler&) = delete;
    TorchProfiler& operator=(const TorchProfiler&) = delete;

    /// Load what the profiler needs, so that the first window does not contain it.
    void prepare();
    /// Both on the same thread. Nothing happens when a window is open, or none is. What goes wrong is kept
    /// for finish().
    void open_window() noexcept;
    void close_window() noexcept;

    /// Close the last window. Returns the number of files. Throws Error(Output) when one could not be
    /// written.
    int finish();

private:
    struct State;
    std::unique_ptr<State> m_state;
};

} // namespace spng::instrument
