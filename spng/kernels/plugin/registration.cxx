// What loading this library does: the operators of libWireCellSpng.so get their kernels for CUDA, which the
// dispatcher prefers to the compositions that they have without.

#include "spng/kernels/operators.h"
#include "spng/kernels/plugin/cuda_launcher.h"

#include <torch/library.h>

namespace spng::kernels {
namespace {

[[maybe_unused]] const bool launcher_is_set = (set_launcher(launch_on_cuda), true);

} // namespace

TORCH_LIBRARY_IMPL(spng, CUDA, library) {
    library.impl("subtract_baseline_and_pad", subtract_baseline_and_pad);
}

} // namespace spng::kernels
