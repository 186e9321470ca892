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
    library.impl("select_rows", select_rows);
    library.impl("waveform_spectrum", waveform_spectrum);
    library.impl("interpolate_rows_", interpolate_rows);
    library.impl("deconvolve", deconvolve);
    library.impl("apply_time_filter", apply_time_filter);
    library.impl("robust_noise", robust_noise);
    library.impl("capped_noise", capped_noise);
    library.impl("plain_rms", plain_rms);
    library.impl("pack_ticks", pack_ticks);
    library.impl("pack_levels", pack_levels);
    library.impl("unpack_ticks", unpack_ticks);
    library.impl("coincidence", coincidence);
    library.impl("multi_plane", multi_plane);
    library.impl("find_regions", find_regions);
    library.impl("sum_of_neighbours", sum_of_neighbours);
    library.impl("stack_features", stack_features);
    library.impl("compact_regions_linear", compact_regions_linear);
    library.impl("compact_regions_restored", compact_regions_restored);
    library.impl("expand_rows", expand_rows);
    library.impl("copy_compacted", copy_compacted);
    library.impl("gather_words", gather_words);
    library.impl("gather_rows", gather_rows);
    library.impl("clipped_running_sum", clipped_running_sum);
}

} // namespace spng::kernels
