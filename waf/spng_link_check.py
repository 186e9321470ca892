# SPDX-License-Identifier: Apache-2.0
"""Check that all parts compile and link together, so that a mixture of versions shows here and not in the
50th file.
"""

# One symbol of each part, through headers that compile quickly.
PROGRAM = """
#include <archive.h>
#include <boost/program_options/errors.hpp>
#include <c10/core/Device.h>
#include <oneapi/tbb/info.h>
#include <spdlog/common.h>
#include <zlib.h>
extern "C" {
#include <libjsonnet.h>  // has no extern "C" itself
}
int main() {
    const boost::program_options::unknown_option error("x");
    return archive_version_number() + jsonnet_version()[0] + int(spdlog::level::from_str("info")) +
           error.what()[0] + tbb::info::default_concurrency() + int(c10::Device("cpu").index()) + zlibVersion()[0];
}
"""

LIBRARIES = "FMT TORCH JSONNET ARCHIVE DEFLATE ZLIB BOOST SPDLOG TBB SYSTEM"


def configure(cfg):
    cfg.check_cxx(
        fragment=PROGRAM,
        use=LIBRARIES,
        execute=False,
        mandatory=True,
        msg="Checking that all parts compile and link together",
        errmsg="no: the compiler's messages are in config.log in the build folder",
    )
