// SPDX-License-Identifier: Apache-2.0
#include "spng/instrument/nvtx_level.h"

#include "WireCellSpng/TorchnvTools.h"
#include "spng/core/error.h"
#include "spng/instrument/torch_ranges.h"

#include <cstdlib>

namespace spng::instrument {

void set_nvtx_level(const std::string& text, const std::string& where) {
    if (text.size() != 1 || text[0] < '0' || text[0] > '4') {
        throw Error(ErrorKind::Usage, {.what = "invalid level of the ranges",
                                       .where = where,
                                       .seen = text.empty() ? "nothing" : text,
                                       .expected = "0 nothing, 1 nodes and events, 2 also steps and files, 3 "
                                                   "also scheduling, 4 also operators of ATen"});
    }
#if SPNG_NVTX_IS_ON
    const auto level = static_cast<nvtx::Level>(text[0] - '0');
    nvtx::set_level(level);
    if (level == nvtx::Level::Torch) {
        annotate_operators();
    }
#else
    if (text != "0") {
        throw Error(ErrorKind::Usage, {.what = "this build has no NVTX ranges",
                                       .where = where,
                                       .seen = text,
                                       .expected = "0, or a build with NVTX",
                                       .hint = "./wcb configure --with-nvtx && ./wcb"});
    }
#endif
}

void apply_nvtx_level_of_environment() {
#if SPNG_NVTX_IS_ON
    if (const char* const text = std::getenv(nvtx_level_variable)) {
        set_nvtx_level(text, nvtx_level_variable);
    }
#endif
}

} // namespace spng::instrument
