#pragma once
// A model in use: how many forwards at once, how many ticks in one, and what happens when memory runs out.
// Knows no component; TorchService makes one from its configuration.

#include "spng/nodes/dnn/model.h"
#include "spng/nodes/dnn/windowed_forward.h"

#include <c10/core/Device.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <semaphore>
#include <string>
#include <vector>

namespace spng {

struct ModelRunnerOptions {
    std::string name{}; ///< of the service, in log lines
    c10::Device device = c10::kCPU;
    std::vector<std::int64_t> sizes{}; ///< (view, feature, channel, tick) of the job
    bool transpose = false;
    std::int64_t multiple = 16;
    std::int64_t halo = -1;         ///< samples; -1: measured when it is needed
    std::int64_t concurrency = 1;   ///< forwards at once
    std::int64_t memory_budget = 0; ///< bytes of tensor memory of one forward; 0: no limit
    std::int64_t chunk_ticks = 0;   ///< output ticks of one forward; 0: by the budget
};

class ModelRunner {
public:
    /// Decides the chunk: `chunk_ticks`, or as many ticks as the measured memory allows.
    /// Throws Error(Device) when not even `multiple` ticks fit into the budget, Error(Model) as
    /// measured_halo.
    ModelRunner(std::unique_ptr<const Model> model, ModelRunnerOptions options);

    /// Waits while `concurrency` forwards are running. When memory runs out, the chunk is halved for this and
    /// all later calls, at most 3 times in a call. Thread-safe. On a device it returns before the work is
    /// done.
    /// @param features  float32 (view, feature, channel, tick)
    /// @return (view, channel, tick), contiguous
    /// Throws Error(Device) when memory does not suffice, Error(Model) as windowed_forward.
    at::Tensor forward(const at::Tensor& features) const;

    const Model& model() const { return *m_model; }
    /// Output ticks of one forward; 0: all at once.
    std::int64_t chunk_ticks() const { return m_chunk; }

private:
    ModelLayout layout(std::int64_t halo) const;
    std::int64_t halo() const;
    std::int64_t chunk_within_budget() const;
    void halve_chunk(std::int64_t tried, std::int64_t ticks, const std::string& failure) const;

    std::unique_ptr<const Model> m_model;
    ModelRunnerOptions m_options;
    mutable std::counting_semaphore<> m_free;
    mutable std::atomic<std::int64_t> m_chunk{0};
    mutable std::once_flag m_halo_is_known;
    mutable std::int64_t m_halo = 0;
};

} // namespace spng
