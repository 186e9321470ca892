// SPDX-License-Identifier: Apache-2.0
#include "spng/device/bfloat16.h"

#include "spng/device/cuda_driver.h"

#include <ATen/autocast_mode.h>

namespace spng {

bool has_bfloat16(c10::Device device) {
    if (device.is_cuda()) {
        constexpr int ampere = 80;
        return compute_capability(device.index()) >= ampere;
    }
#if defined(__x86_64__) && defined(__GNUC__)
    return device.is_cpu() && __builtin_cpu_supports("avx512bf16") != 0;
#else
    return false;
#endif
}

Bfloat16Scope::Bfloat16Scope(c10::DeviceType type)
    : m_type(type), m_was_enabled(at::autocast::is_autocast_enabled(type)),
      m_cached(at::autocast::is_autocast_cache_enabled()), m_was(at::autocast::get_autocast_dtype(type)) {
    at::autocast::set_autocast_dtype(type, at::kBFloat16);
    // The cache helps training, where a step uses weights twice. A forward of a frozen network uses each
    // weight once, and the cached copies would outlive it.
    at::autocast::set_autocast_cache_enabled(false);
    at::autocast::set_autocast_enabled(type, true);
}

Bfloat16Scope::~Bfloat16Scope() {
    at::autocast::set_autocast_enabled(m_type, m_was_enabled);
    at::autocast::set_autocast_cache_enabled(m_cached);
    at::autocast::set_autocast_dtype(m_type, m_was);
}

} // namespace spng
