// SPDX-License-Identifier: Apache-2.0
#include "spng/kernels/launch.h"

#include "spng/core/error.h"

#include <algorithm>
#include <atomic>
#include <limits>

namespace spng::kernels {

namespace {

std::atomic<Launcher> current_launcher{nullptr};
std::atomic<SharedLimit> current_limit{nullptr};

} // namespace

void set_launcher(Launcher launcher, SharedLimit limit) {
    current_limit = limit;
    current_launcher = launcher;
}

std::int64_t shared_bytes_limit(c10::Device device) {
    const SharedLimit limit = current_limit;
    return limit == nullptr ? max_shared_bytes : limit(device);
}

void launch(const Launch& launch) {
    const Launcher launcher = current_launcher;
    if (launcher == nullptr) {
        throw Error(ErrorKind::Internal, {.what = "a CUDA kernel is launched before CUDA is loaded",
                                          .where = launch.kernel,
                                          .expected = "load_cuda_plugin() before it"});
    }
    launcher(launch);
}

std::int64_t blocks_for(std::int64_t units, std::int64_t units_of_a_block) {
    const std::int64_t blocks = (units + units_of_a_block - 1) / units_of_a_block;
    return std::min<std::int64_t>(blocks, std::numeric_limits<std::int32_t>::max());
}

} // namespace spng::kernels
