// SPDX-License-Identifier: Apache-2.0
#pragma once
// A warm job on frames, and what its configuration says about them.

#include "spng/pipeline/input_event.h"
#include "spng/pipeline/warm_job.h"

#include <cstddef>
#include <string>
#include <vector>

namespace spng {

/// Thread-safe, except construction and destruction.
class FrameJob {
public:
    /// @throws as WarmJob()
    FrameJob(JobRequest request, std::size_t queue_size, int graph_threads = 0);

    WarmJob& job() { return m_job; }
    const WarmJob& job() const { return m_job; }

    /// Empty for a configuration without SPNGFrameToTorchSetFanout, like planes().
    const ExpectedFrame& expected() const { return m_expected; }
    /// The channels of each plane, ordered by anode and plane.
    const std::vector<PlaneChannels>& planes() const { return m_planes; }
    /// The devices that process frames, "cpu" or "cuda:0".
    const std::vector<std::string>& devices() const { return m_devices; }
    /// The tags of the result; empty for a configuration without SPNGTorchTensorSetToFrameFanin.
    const std::vector<std::string>& tags() const { return m_tags; }

private:
    WarmJob m_job;
    ExpectedFrame m_expected;
    std::vector<PlaneChannels> m_planes;
    std::vector<std::string> m_devices;
    std::vector<std::string> m_tags;
};

} // namespace spng
