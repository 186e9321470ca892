// SPDX-License-Identifier: Apache-2.0
#pragma once
// The file of --memory-snapshot.

#include <c10/core/Device.h>

#include <string>
#include <vector>

namespace spng::instrument {

/// Records the history of LibTorch's caching allocator during a job, and writes it with the map of the blocks.
class MemorySnapshot {
public:
    /// Request the history. Call it before the job is prepared.
    /// @param file  "": neither record nor write
    explicit MemorySnapshot(std::string file);

    /// Write the file if the job failed before write(). Failures are only logged.
    ~MemorySnapshot();
    MemorySnapshot(const MemorySnapshot&) = delete;
    MemorySnapshot& operator=(const MemorySnapshot&) = delete;

    /// Check that the history is on. Call it when the job is prepared.
    /// @throws Error(Usage) for a job without a CUDA device, or without libWireCellSpngCuda.so
    void require_history(const std::vector<c10::Device>& devices) const;

    /// Write the file.
    /// @return its name; "" if none was requested
    /// @throws Error(Output)
    std::string write();

private:
    std::string m_file;
    bool m_is_pending; ///< requested, and no attempt to write was made
};

} // namespace spng::instrument
