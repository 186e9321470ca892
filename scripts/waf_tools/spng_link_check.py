"""Do all parts compile and link together? A mixture of compilers or versions shows here and not in the 50th file."""

PROGRAM = """
#include <ATen/core/Tensor.h>
#include <archive.h>
#include <boost/program_options.hpp>
extern "C" {
#include <libjsonnet.h>  // does not say so itself
}
#include <oneapi/tbb/info.h>
#include <spdlog/spdlog.h>
int main() {
    spdlog::info("{} {} {}", at::Tensor().defined(), archive_version_number(), jsonnet_version());
    return tbb::info::default_concurrency() > 0 && boost::program_options::options_description().options().empty() ? 0 : 1;
}
"""

LIBRARIES = "FMT TORCH JSONNET ARCHIVE BOOST SPDLOG TBB SYSTEM"


def configure(cfg):
    cfg.check_cxx(fragment=PROGRAM, use=LIBRARIES, execute=False, mandatory=True,
                  msg="Checking that all parts compile and link together",
                  errmsg="no: the compiler's messages are in config.log in the build folder")
