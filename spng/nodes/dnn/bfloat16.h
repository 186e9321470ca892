#pragma once
// Networks in bfloat16: half the bytes and, with instructions for it, a multiple of the speed of float32, at
// 8 bits of precision. A probability then is off by some thousandths.

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

namespace spng {

/// Whether there are instructions for it: AVX512_BF16 (which processors with AMX have too), or a CUDA device
/// of compute capability 8.0 or more. Without them bfloat16 is slower than float32.
bool has_bfloat16(c10::Device device);

/// While it lives, convolutions and matrix products of this thread take and give bfloat16 on that kind of
/// device, whatever they are given; everything else stays in the type that it gets (LibTorch's autocast).
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
