// SPDX-License-Identifier: Apache-2.0
#pragma once
// Networks in bfloat16. Compared with float32 it has half the bytes and 8 bits of precision, and is several
// times faster on processors with instructions for it. Probabilities change by some thousandths.

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

namespace spng {

/// Return whether the device has instructions for bfloat16: AVX512_BF16 (also on all processors with AMX), or
/// compute capability 8.0 of a CUDA device. Without them bfloat16 is slower than float32.
bool has_bfloat16(c10::Device device);

/// Scope in which convolutions and matrix products of this thread use bfloat16 on one kind of device. Other
/// operations keep the type of their inputs (LibTorch's autocast).
class Bfloat16Scope {
public:
    explicit Bfloat16Scope(c10::DeviceType type);
    ~Bfloat16Scope();
    Bfloat16Scope(const Bfloat16Scope&) = delete;
    Bfloat16Scope& operator=(const Bfloat16Scope&) = delete;

private:
    c10::DeviceType m_type;
    bool m_was_enabled;
    bool m_cached;
    c10::ScalarType m_was;
};

} // namespace spng
