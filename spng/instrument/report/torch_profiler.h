// SPDX-License-Identifier: Apache-2.0
#pragma once
// LibTorch's own profiler (Kineto) as a second exporter: traces of node calls and ATen operators with shapes and
// memory, for chrome://tracing, Perfetto and TensorBoard. LibTorch collects stacks of TorchScript and Python only, so
// operators outside of a TorchScript network have none. LibTorch's interface to the profiler is not stable, so only
// this class uses it.

#include <c10/core/Device.h>

#include <memory>
#include <string>

namespace spng::instrument {

/// Profiles the thread that opens the capture window, and on a device all work, until the capture window closes. Each
/// capture window becomes a file <host>_<process>.<index>.pt.trace.json in the folder, which gets its name when it is
/// complete.
class TorchProfiler {
public:
    /// @param folder  made if it is missing
    /// @throws Error(Usage) if the folder cannot be made or written into
    TorchProfiler(const std::string& folder, c10::Device device);
    ~TorchProfiler();
    TorchProfiler(const TorchProfiler&) = delete;
    TorchProfiler& operator=(const TorchProfiler&) = delete;

    /// Load the profiler's libraries, so that the first capture window does not contain their loading.
    void prepare();
    /// Open the capture window if it is closed. Keep an error for finish().
    void open_window() noexcept;
    /// Close the capture window if it is open. Call it on the thread that opened it. Keep an error for finish().
    void close_window() noexcept;

    /// Close the last capture window.
    /// @return number of files
    /// @throws Error(Output) if a file could not be written
    int finish();

private:
    struct State;
    std::unique_ptr<State> m_state;
};

} // namespace spng::instrument
