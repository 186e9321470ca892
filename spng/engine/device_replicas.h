#pragma once
// The replicas of a job as they run on their devices: tried before the first event, with bounded plans of
// transforms, and with the device section as one node where that is asked for and can be done.

#include "spng/core/component.h"
#include "spng/device/fft_plans.h"
#include "spng/engine/device_section.h"
#include "spng/engine/replicas.h"

#include <memory>
#include <string>
#include <vector>

namespace spng {

struct DeviceReplicaOptions {
    std::string cuda_graph = "off"; ///< auto, on, off
    instrument::MeterMode mode{};
    int events_in_flight = 1; ///< of each replica
};

class DeviceReplicas {
public:
    /// Work of preparing: after it, an event of the job's shape needs nothing that takes long once.
    /// @param replicas         with prepared nodes; what they refer to must outlive this
    /// @param environments  of the replicas, in the same order
    /// Where the section cannot be one node, all goes on without; the log says why (a warning for `on`).
    DeviceReplicas(std::vector<Replica> replicas, const std::vector<Environment*>& environments,
                   const DeviceReplicaOptions& options);
    /// Frees the plans of transforms.
    ~DeviceReplicas();
    DeviceReplicas(const DeviceReplicas&) = delete;
    DeviceReplicas& operator=(const DeviceReplicas&) = delete;

    /// What the engines run.
    const std::vector<Replica>& replicas() const { return m_replicas; }
    /// Of the nodes that were put in.
    std::vector<instrument::NodeMeter*> meters() const;
    /// Time that trying the chain took, on all devices together; 0 on the CPU.
    double warm_up_seconds() const { return m_warm_up; }

private:
    void put_sections_in(const std::vector<Environment*>& environments, const DeviceReplicaOptions& options);

    std::vector<Replica> m_replicas;
    std::vector<std::unique_ptr<DeviceSection>> m_sections;
    std::vector<std::unique_ptr<Graph>> m_graphs;
    std::vector<std::unique_ptr<FftPlanCache>> m_plans;
    double m_warm_up = 0;
};

} // namespace spng
