// SPDX-License-Identifier: Apache-2.0
// Register the CUDA kernels of our operators when this library is loaded. The dispatcher prefers them to the
// compositions of libWireCellSpng.so.

#include "spng/kernels/operators.h"
#include "spng/kernels/plugin/cuda_launcher.h"

#include <torch/library.h>

namespace spng::kernels {
namespace {

[[maybe_unused]] const bool launcher_is_set =
    (set_launcher(launch_on_cuda, shared_bytes_limit_of_cuda), true);

} // namespace

TORCH_LIBRARY_IMPL(spng, CUDA, library) {
    library.impl("waveform_spectrum", waveform_spectrum);
    library.impl("deconvolve", deconvolve);
    library.impl("apply_time_filter", apply_time_filter);
    library.impl("robust_noise", robust_noise);
    library.impl("plain_rms", plain_rms);
    library.impl("pack_ticks", pack_ticks);
    library.impl("pack_above", pack_above);
    library.impl("unpack_ticks", unpack_ticks);
    library.impl("coincidence", coincidence);
    library.impl("or_neighbours", or_neighbours);
    library.impl("multi_plane", multi_plane);
    library.impl("grow_regions", grow_regions);
    library.impl("confirmed_runs", confirmed_runs);
    library.impl("apply_regions_linear", apply_regions_linear);
    library.impl("apply_regions_restored", apply_regions_restored);
    library.impl("clipped_running_sum", clipped_running_sum);
}

} // namespace spng::kernels
