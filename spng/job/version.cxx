// SPDX-License-Identifier: Apache-2.0
#include "spng/job/version.h"

#include "spng/build_commit.h"
#include "spng/build_info.h"

extern "C" { // libjsonnet.h lacks the linkage specification
#include <libjsonnet.h>
}

namespace spng {

const BuildInfo& build_info() {
    static const BuildInfo info{generated::version, generated::commit,
                                std::string(generated::build_mode) + ", " + generated::compiler,
                                generated::torch_version};
    return info;
}

std::string version_text() {
    const BuildInfo& info = build_info();
    const bool has_cuda = std::string(generated::torch_cuda) == "yes";
    return "wire-cell (SPNG) " + info.version + "\n  commit    " + info.commit + "\n  build     " +
           info.build + "\n  LibTorch  " + info.torch_version + (has_cuda ? ", with CUDA" : ", CPU only") +
           "\n  jsonnet   " + jsonnet_version() + "\n  NVTX      " +
           (SPNG_HAVE_NVTX ? "ranges compiled in" : "no ranges") + "\n";
}

} // namespace spng
