// SPDX-License-Identifier: Apache-2.0
#pragma once
// The replicas of a job as the engines run them: warmed up, with a bounded number of FFT plans, and with captured
// bodies where CUDA graphs are on and possible.

#include "spng/core/component.h"
#include "spng/device/fft_plans.h"
#include "spng/engine/body/body_captured.h"
#include "spng/engine/replicas.h"

#include <memory>
#include <string>
#include <vector>

namespace spng {

struct DeviceReplicaOptions {
    std::string cuda_graph = "off"; ///< auto, on, off
    instrument::MeterMode mode{};
    int events_in_flight = 1;   ///< of each replica
    std::size_t max_graphs = 0; ///< CUDA graphs of each replica that may exist at the same time
};

class DeviceReplicas {
public:
    /// Warm up the replicas, so that the first event costs as much as the others. If bodies
    /// cannot be captured, continue without that and log the reason (a warning for `on`).
    /// @param replicas  with prepared nodes, which must outlive this object
    DeviceReplicas(std::vector<Replica> replicas, const DeviceReplicaOptions& options);
    /// Free the FFT plans.
    ~DeviceReplicas();
    DeviceReplicas(const DeviceReplicas&) = delete;
    DeviceReplicas& operator=(const DeviceReplicas&) = delete;

    /// The replicas to run.
    const std::vector<Replica>& replicas() const { return m_replicas; }
    /// Meters of the captured bodies.
    std::vector<instrument::NodeMeter*> meters() const;
    /// Duration of the warm-up on all devices together; 0 on the CPU.
    double warm_up_seconds() const { return m_warm_up; }

private:
    void capture_bodies(const DeviceReplicaOptions& options);

    std::vector<Replica> m_replicas;
    std::vector<std::unique_ptr<CapturedBody>> m_bodies;
    std::vector<std::unique_ptr<FftPlanCache>> m_plans;
    double m_warm_up = 0;
};

} // namespace spng
