#pragma once
// Where and how precisely a job computes. One per job, of component type SPNGContext, shared by all nodes.

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
    std::string share = "none";
    int share_timeout = 0;
    std::string cuda_graph = "off";
    static constexpr auto fields() {
        return std::make_tuple(
            field(&ContextConfig::device, "device", "", not_empty(),
                  "auto (CUDA where there is a device, else the CPU), cpu, cuda, cuda:N; gpu and gpuN mean "
                  "the same. Several with commas, or cuda:all: events are spread over them"),
            field(&ContextConfig::precision, "precision", "", one_of("exact", "fast"),
                  "exact: float32 throughout, repeats to the byte; fast: the network in bfloat16 where the "
                  "machine has instructions for it, on CUDA also TF32 convolutions and products"),
            field(&ContextConfig::dtype, "dtype", "", one_of("float32", "float64"),
                  "floating type of the whole chain"),
            field(&ContextConfig::threads, "threads", "", between(0, 1024),
                  "threads inside one operation on the CPU; 0: cores / threads of the graph"),
            field(&ContextConfig::verbosity, "verbosity", "", between(0, 3),
                  "log lines: 0 what -l and -L ask for, 1 info, 2 debug, 3 trace"),
            field(&ContextConfig::memory_budget, "memory_budget", "", any(),
                  "tensor memory that the job may take on each device, such as 4GB; empty: no limit on the "
                  "CPU, on CUDA 9/10 of what is free at the start"),
            field(&ContextConfig::share, "share", "", not_empty(),
                  "none; auto: take turns with other jobs of this user so that memory suffices for all; or "
                  "the folder for it, with a / in its name, which several users can share"),
            field(&ContextConfig::share_timeout, "share_timeout", "s", at_least(0),
                  "give up waiting for other jobs after so long; 0: never"),
            field(&ContextConfig::cuda_graph, "cuda_graph", "", one_of("auto", "on", "off"),
                  "record the work of an event on the device once per shape of the readout and launch it as "
                  "one; on: say so in a warning where it cannot be done; auto: only in the log"));
    }
};

class Context : public ServiceWith<ContextConfig> {
public:
    /// Choose the device, loading the CUDA libraries if (and only if) one is asked for.
    /// Throws Error(Device) when the device asked for is not there.
    void prepare(Environment&) override;

    c10::Device device() const { return m_device; }
    /// Speed within the bars of precision=fast, rather than the same bytes each time.
    bool fast() const { return config().precision == "fast"; }
    c10::ScalarType real() const { return m_real; }
    c10::ScalarType complex() const;

    /// Bytes of tensor memory that the job may take on each device; 0: none was given.
    std::int64_t memory_budget() const;

    /// Bytes that a network may take, where none were given to its own service; 0: no limit. For the job,
    /// which knows what is left beside the rest, before the services are prepared.
    std::int64_t network_budget() const { return m_network_budget; }
    void set_network_budget(std::int64_t bytes) { m_network_budget = bytes; }

protected:
    void configured() override;

private:
    c10::Device m_device{c10::kCPU};
    c10::ScalarType m_real = c10::kFloat;
    std::int64_t m_network_budget = 0;
};

/// The name under which a job's context is configured.
inline constexpr const char* context_name = "SPNGContext";

} // namespace spng
