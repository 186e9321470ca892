#pragma once
// Plans of cuFFT on a device. LibTorch keeps up to 4096 of them, and each holds tables on the device: a job
// over readouts of ever other lengths would fill it. A job needs those of one shape of readout at a time.

#include <c10/core/Device.h>

#include <cstdint>
#include <memory>

namespace spng {

/// LibTorch's cache of plans of a device; tests put another one in.
class FftPlanCache {
public:
    virtual ~FftPlanCache() = default;
    virtual std::int64_t size() const = 0;
    virtual void set_most(std::int64_t plans) = 0;
    virtual void clear() = 0;
};

/// Null for devices that have none, such as the CPU.
std::unique_ptr<FftPlanCache> fft_plan_cache(c10::Device device);

/// After the chain was tried with the shape of the job (warm_up.h): keep as many plans as it made for that
/// shape and for one more, the least recently used of which make room for those of a third.
/// @return that number; 0 where nothing was made
std::int64_t bound_fft_plans(FftPlanCache& cache);

} // namespace spng
