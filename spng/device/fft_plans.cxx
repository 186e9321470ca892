// SPDX-License-Identifier: Apache-2.0
#include "spng/device/fft_plans.h"

#include <ATen/detail/CUDAHooksInterface.h>

namespace spng {
namespace {

class CudaPlanCache : public FftPlanCache {
public:
    explicit CudaPlanCache(c10::DeviceIndex device) : m_device(device) {}
    std::int64_t size() const override { return at::detail::getCUDAHooks().cuFFTGetPlanCacheSize(m_device); }
    void set_max(std::int64_t plans) override {
        at::detail::getCUDAHooks().cuFFTSetPlanCacheMaxSize(m_device, plans);
    }
    void clear() override { at::detail::getCUDAHooks().cuFFTClearPlanCache(m_device); }

private:
    c10::DeviceIndex m_device;
};

} // namespace

std::unique_ptr<FftPlanCache> fft_plan_cache(c10::Device device) {
    return device.is_cuda() ? std::make_unique<CudaPlanCache>(device.index()) : nullptr;
}

std::int64_t bound_fft_plans(FftPlanCache& cache) {
    const std::int64_t max_plans = 2 * cache.size();
    if (max_plans > 0) {
        cache.set_max(max_plans);
    }
    return max_plans;
}

} // namespace spng
