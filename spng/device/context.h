// SPDX-License-Identifier: Apache-2.0
#pragma once
// Device and precision of a job. Each job has one context, of component type SPNGContext, shared by all
// nodes.

#include "spng/core/component.h"

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <cstdint>
#include <string>

namespace spng {

struct ContextConfig {
    std::string device = "auto";
    std::string precision = "exact";
    std::string dtype = "float32";
    int threads = 0;
    int verbosity = 0;
    std::string memory_budget;
    std::string cuda_graph = "off";
    std::string about;
    static constexpr auto fields() {
        return std::make_tuple(
            field(&ContextConfig::device, "device", "", not_empty(),
                  "auto (CUDA if there is a device, else the CPU), cpu, cuda, cuda:N; gpu and gpuN mean "
                  "the same. With several, separated by commas, or with cuda:all, the events are spread over "
                  "them"),
            field(&ContextConfig::precision, "precision", "", one_of("exact", "fast"),
                  "exact: float32 throughout, the same bytes each time; fast: the network in bfloat16 if the "
                  "machine has instructions for it, on CUDA also TF32 convolutions and products"),
            field(&ContextConfig::dtype, "dtype", "", one_of("float32", "float64"),
                  "floating type of the whole chain"),
            field(&ContextConfig::threads, "threads", "", between(0, 1024),
                  "threads inside one operation on the CPU; 0: cores / threads of the graph"),
            field(&ContextConfig::verbosity, "verbosity", "", between(0, 3),
                  "log level: 0 as given with -l and -L, 1 info, 2 debug, 3 trace"),
            field(
                &ContextConfig::memory_budget, "memory_budget", "", any(),
                "maximum tensor memory of the job on each device, such as 4GB; empty: on CUDA, and in a "
                "limited address space (ulimit -v), 9/10 of the memory that is free at the start, otherwise "
                "no limit"),
            field(&ContextConfig::cuda_graph, "cuda_graph", "", one_of("auto", "on", "off"),
                  "capture the device work of an event as a CUDA graph, once per shape of the readout, and "
                  "launch it as one; if that is impossible, on gives a warning, auto a log line"),
            field(&ContextConfig::about, "about", "", any(),
                  "one line about the job for its reports: detector, anodes, filters, network"));
    }
};

class Context : public ServiceWith<ContextConfig> {
public:
    /// Choose the device. Load the CUDA libraries only if a CUDA device is requested.
    /// @throws Error(Device) if the requested device does not exist
    void prepare(Environment&) override;

    c10::Device device() const { return m_device; }
    /// Return true for precision=fast: faster within tested limits, without equal bytes in each run.
    bool fast() const { return config().precision == "fast"; }
    c10::ScalarType real() const { return m_real; }
    c10::ScalarType complex() const;

    /// Return the bytes of tensor memory that the job may take on each device; 0 if not configured.
    std::int64_t memory_budget() const;

    /// Return the bytes that a network may take if its own service does not limit them; 0: no limit. The job
    /// sets this before it prepares the services, from the memory left by the other nodes.
    std::int64_t network_budget() const { return m_network_budget; }
    void set_network_budget(std::int64_t bytes) { m_network_budget = bytes; }

protected:
    void configured() override;

private:
    c10::Device m_device{c10::kCPU};
    c10::ScalarType m_real = c10::kFloat;
    std::int64_t m_network_budget = 0;
};

/// Return the device of one name of replica_devices(); for a CUDA device, load the CUDA libraries.
/// @param where  component and key, for messages
/// @throws Error(Device) if it does not exist or cannot be used
c10::Device choose_device(const std::string& name, const std::string& where);

/// Component name of the context of a job.
inline constexpr const char* context_name = "SPNGContext";

} // namespace spng
