// SPDX-License-Identifier: Apache-2.0
#pragma once
// Settings of the simulated runtime, from the environment. Names of the variables begin with CUDA_SIMULATOR_.

#include <cstddef>
#include <optional>
#include <string>

namespace cuda_simulator {

struct Settings {
    int devices = 1;              ///< DEVICES
    std::size_t memory_bytes = 0; ///< MEMORY_MB: of each device; may have decimals
    std::size_t seen_bytes = 0;   ///< MEMORY_SEEN_MB: what the device says it has, as MEMORY_MB unless given
    std::optional<long> lost_after; ///< LOST_AFTER: a device is lost after this many launches
    int lost_device = -1;           ///< LOST_DEVICE: only launches of this device count; -1: all
    std::optional<long>
        rejected_allocation;      ///< REJECTED_ALLOCATION: number of the cudaMalloc that fails, from 0
    bool emulates_kernels = true; ///< EMULATE=0: see emulates_kernels()
    bool runs_at_once = false;    ///< EAGER=1: operations run when queued
    /// BARE=1: for times of the host. Nothing is calculated (values are undefined), no traffic counted, nothing
    /// checked, and no query finds work done. Needs EMULATE=0.
    bool is_bare = false;
    bool notes_waits = false; ///< WAITS=1: the report has the call stack of each wait
    std::string log;          ///< LOG: file to write all records to, one JSON object per line; empty: none
    std::string report;       ///< REPORT: file to write at the end, JSON; empty: none
};

/// Read on first use.
const Settings& settings();

} // namespace cuda_simulator
