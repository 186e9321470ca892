// SPDX-License-Identifier: Apache-2.0
#pragma once
// Limit the cached plans of cuFFT on a device. LibTorch keeps up to 4096 plans, each with tables in device
// memory; a job with many distinct readout lengths would fill it. A job needs the plans of one readout shape
// at a time.

#include <c10/core/Device.h>

#include <cstdint>
#include <memory>

namespace spng {

/// Interface of LibTorch's plan cache of a device. Tests replace it.
class FftPlanCache {
public:
    virtual ~FftPlanCache() = default;
    virtual std::int64_t size() const = 0;
    virtual void set_max(std::int64_t plans) = 0;
    virtual void clear() = 0;
};

/// Return the cache of a device; null for devices without one, such as the CPU.
std::unique_ptr<FftPlanCache> fft_plan_cache(c10::Device device);

/// Limit the cache to the plans of two readout shapes: twice the count that the warm-up with the job's shape
/// made (warm_up.h). The least recently used plans make room for those of a third shape.
/// @return that limit; 0 if the cache has no plans
std::int64_t bound_fft_plans(FftPlanCache& cache);

} // namespace spng
