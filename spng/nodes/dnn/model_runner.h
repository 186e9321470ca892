// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs a model with limits on concurrent forwards and on ticks per forward, and retries when memory runs out.

#include "spng/core/backoff.h"
#include "spng/device/cuda_math.h"
#include "spng/nodes/dnn/model.h"
#include "spng/nodes/dnn/tiled_forward.h"

#include <c10/core/Device.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <string>
#include <vector>

namespace spng {

struct ModelRunnerOptions {
    std::string name{}; ///< name of the service, for log lines
    c10::Device device = c10::kCPU;
    bool fast = false;                 ///< precision=fast, see CudaMath
    std::vector<std::int64_t> sizes{}; ///< (view, feature, channel, tick) of the job
    bool transpose = false;
    std::int64_t multiple = 16;
    std::int64_t halo = -1;         ///< samples; -1: measure it if needed
    std::int64_t concurrency = 1;   ///< maximum number of concurrent forwards
    std::int64_t memory_budget = 0; ///< tensor memory of one forward [bytes]; 0: no limit
    std::int64_t chunk_ticks = 0;   ///< output ticks per forward; 0: from the budget
};

class ModelRunner {
public:
    /// Choose the chunk: `chunk_ticks`, or as many ticks as fit into the budget according to a measurement.
    /// @throws Error(Device) if not even `multiple` ticks fit into the budget
    /// @throws Error(Model) see measured_halo()
    ModelRunner(std::unique_ptr<const Model> model, ModelRunnerOptions options);

    /// Number of calls with a halved chunk after which it is doubled again, because memory may be free again.
    /// Twice as many after each time that memory runs out again, up to `max_pause`.
    static constexpr std::int64_t first_pause = 32;
    static constexpr std::int64_t max_pause = 1024;

    /// Wait for a free slot and run the network. If memory runs out, halve the chunk for this and the next
    /// calls, at most 3 times per call, but not while the thread captures. Thread-safe. On a device it returns
    /// before the work is done.
    /// @param features  (view, feature, channel, tick) float32
    /// @return (view, channel, tick), contiguous
    /// @throws OutOfMemory if memory is not sufficient
    /// @throws Error(Model) see tiled_forward()
    at::Tensor forward(const at::Tensor& features) const;

    const Model& model() const { return *m_model; }
    /// Run the model once on the whole input, in the form that Model::forward() takes, within the limit on concurrent
    /// forwards.
    /// @throws ModelOutOfMemory, also for more ticks than a tile has; and as Model::forward()
    at::Tensor forward_as_is(const at::Tensor& input) const;

    /// Output ticks per forward; 0: all ticks.
    std::int64_t chunk_ticks() const { return m_chunk; }

private:
    ModelLayout layout(std::int64_t halo) const;
    std::int64_t halo() const;
    std::int64_t chunk_within_budget() const;
    /// Return the scope of a forward: on CUDA, that of its algorithms.
    std::optional<CudaMath> math() const;
    void halve_chunk(std::int64_t tried, std::int64_t ticks, const std::string& failure) const;
    /// Note a call that succeeded with this chunk, and double the chunk if it was halved long ago.
    void note_success(std::int64_t chunk, std::int64_t ticks) const;

    std::unique_ptr<const Model> m_model;
    ModelRunnerOptions m_options;
    mutable std::counting_semaphore<> m_free;
    std::int64_t m_planned_chunk = 0; ///< the chunk while memory suffices
    mutable std::atomic<std::int64_t> m_chunk{0};
    mutable std::mutex m_mutex;        ///< guards changes of the chunk, and the members below
    mutable bool m_was_doubled = true; ///< since memory ran out last
    mutable Backoff<std::int64_t> m_pauses{first_pause, max_pause};
    mutable std::int64_t m_pause = 0;
    mutable std::int64_t m_calls_left = 0; ///< before the chunk is doubled
    /// No std::once_flag: under gcc's thread sanitizer a thread that has thrown an error through one is ignored.
    mutable std::mutex m_halo_mutex;
    mutable std::optional<std::int64_t> m_halo;
};

} // namespace spng
