// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace spng {

/// Sets LibTorch's choice of CUDA algorithms while a network is launched: TF32 and any algorithm of cuDNN if `fast`, else
/// float32 and deterministic ones. The choice belongs to the process, so the host's is restored when the last scope ends.
/// Scopes of the other kind wait. Thread-safe.
class CudaMath {
public:
    explicit CudaMath(bool fast);
    ~CudaMath();
    CudaMath(const CudaMath&) = delete;
    CudaMath& operator=(const CudaMath&) = delete;
};

} // namespace spng
