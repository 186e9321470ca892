// SPDX-License-Identifier: Apache-2.0
#include "spng/kernels/modules.h"

namespace spng::kernels {

const CudaModule* module_for(std::span<const CudaModule> modules, int capability) {
    const CudaModule* best = nullptr;
    for (const CudaModule& candidate : modules) {
        const bool runs = candidate.capability <= capability &&
                          (candidate.is_ptx || candidate.capability / 10 == capability / 10);
        const bool better = best == nullptr || (best->is_ptx && !candidate.is_ptx) ||
                            (best->is_ptx == candidate.is_ptx && candidate.capability > best->capability);
        if (runs && better) {
            best = &candidate;
        }
    }
    return best;
}

} // namespace spng::kernels
