# SPDX-License-Identifier: Apache-2.0
"""The plugin libWireCellSpngPlugin for jobs of the Wire-Cell Toolkit (WCT), with --with-wirecell=DIR (docs/wirecell-plugin.md)."""

import os
import re
import subprocess

from spng_options import folders
from waflib.Configure import conf

OLDEST = (0, 25)  # the headers of 0.25.0 to 0.35.0 compile; jobs ran with 0.35
SOURCES = "adapters/wirecell/*.cxx"
CHECKS = "tests/adapters/wirecell/with_wct/node_checks.cxx"
WITH_HEADERS_OF_WCT = ("loaded_version.cxx", "result_frame.cxx", "sigproc.cxx")

# Headers that bring all parts of WCT's that the plugin uses, and one symbol of each library.
PROGRAM = """
#include "WireCellIface/IFrameFilter.h"
#include "WireCellUtil/Logging.h"
#include "WireCellUtil/NamedFactory.h"
#include <sstream>
struct Filter : WireCell::IFrameFilter {
    bool operator()(const input_pointer&, output_pointer&) override { return true; }
};
int main() {
    Filter filter;
    Json::Value value;
    std::istringstream("{}") >> value;
    WireCell::Log::logger("test")->info("{}", value.size());
    WireCell::raise<WireCell::ValueError>("test");
}
"""


def configure(cfg):
    """Find WCT. Without the option the plugin is left out."""
    env = cfg.env
    # Options remembered from before there was this one have no value.
    root = getattr(cfg.options, "with_wirecell", None)
    env.HAVE_WIRECELL = 0
    env.WIRECELL_TEXT = "left out (--with-wirecell=DIR)"
    if root in (None, "no"):
        return
    if root == "yes":
        reject(
            cfg,
            "--with-wirecell has no folder",
            "give the folder that ./wcb install of WCT filled: --with-wirecell=DIR",
        )
    root = os.path.abspath(root)
    include, libraries = os.path.join(root, "include"), os.path.join(root, "lib")
    for file in (
        os.path.join(include, "WireCellUtil", "BuildConfig.h"),
        os.path.join(include, "WireCellIface", "IFrameFilter.h"),
        os.path.join(libraries, "libWireCellUtil.so"),
        os.path.join(libraries, "libWireCellIface.so"),
    ):
        if not os.path.exists(file):
            reject(
                cfg,
                f"--with-wirecell={root} is no installation of WCT: no {file}",
                "give the folder that ./wcb install of WCT filled",
            )
    version, has_backtrace = build_settings(os.path.join(include, "WireCellUtil", "BuildConfig.h"))
    numbers = (
        tuple(int(part) for part in re.findall(r"\d+", version)[:2])
        if re.match(r"\d+\.\d", version)
        else OLDEST
    )
    if numbers < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        reject(cfg, f"--with-wirecell={root}: WCT {version} is too old", f"WCT {oldest} or newer is needed")
    more = folders(getattr(cfg.options, "with_wirecell_include", None))
    env.CXXFLAGS_WIRECELL = [
        flag for folder in [include, *more, *folders_of_packages()] for flag in ("-isystem", folder)
    ]
    env.LIB_WIRECELL = ["WireCellIface", "WireCellUtil", "jsoncpp", "spdlog", "fmt"]
    env.LIB_WIRECELL += ["backtrace"] if has_backtrace else []
    env.LIBPATH_WIRECELL = [libraries, *folders(getattr(cfg.options, "with_wirecell_lib", None))]
    env.RPATH_WIRECELL = [libraries]
    found = cfg.check_cxx(
        fragment=PROGRAM,
        use="FMT SPDLOG BOOST WIRECELL SYSTEM",
        execute=False,
        mandatory=False,
        msg=f"Checking the Wire-Cell Toolkit {version}",
        errmsg="no",
    )
    if not found:
        reject(
            cfg,
            f"--with-wirecell={root}: headers and libraries of WCT do not compile and link (config.log in the build folder)",
            "give the folders of the headers and libraries that WCT was built with (jsoncpp, Eigen, Boost, spdlog, fmt):\n"
            "            --with-wirecell-include=A,B --with-wirecell-lib=A,B",
        )
    env.HAVE_WIRECELL = 1
    env.WIRECELL_FOLDER = root
    env.WIRECELL_TEXT = f"{version} ({root})"


def build(bld):
    """Build the plugin, and install it with the Jsonnet of its jobs."""
    if not bld.env.HAVE_WIRECELL:
        return
    bld.shlib(
        target="lib/WireCellSpngPlugin",
        source=bld.path.ant_glob(SOURCES),
        includes=[".", "spng/include"],
        use="spng FMT SPDLOG BOOST NLOHMANN WIRECELL SYSTEM",
        linkflags=["-Wl,--as-needed", *bld.env.LINKFLAGS_COMPLETE],
        rpath=["$ORIGIN"],
        install_path="${LIBDIR}",
        name="wirecell_plugin",
    )
    if bld.env.HAVE_GTEST and not bld.options.notests:
        bld.program(
            target="tests/wirecell_checks",
            source=CHECKS,
            includes=[".", "spng/include"],
            use="spng FMT SPDLOG BOOST NLOHMANN WIRECELL GTEST SYSTEM",
            linkflags=[
                "-rdynamic"
            ],  # the registries of WCT's components are inline variables of program and plugin
            rpath=["$ORIGIN/../lib"],
            install_path=None,
        )
    bld.install_files("${PREFIX}/share/wirecell/wct", bld.path.ant_glob("adapters/wirecell/cfg/*.jsonnet"))


@conf
def sources_without_wirecell(bld):
    """Return the sources that the tests compile, with or without WCT."""
    return bld.path.ant_glob(SOURCES, excl=[f"adapters/wirecell/{name}" for name in WITH_HEADERS_OF_WCT])


def reject(cfg, problem, hint):
    cfg.fatal(f"{problem}\n  To fix: {hint}")


def build_settings(header):
    """Return WCT's version, and whether its headers need libbacktrace."""
    with open(header, encoding="utf-8") as stream:
        text = stream.read()
    version = re.search(r'#define WIRECELL_VERSION "([^"]*)"', text)
    return version[1] if version else "of unknown version", bool(
        re.search(r"#define HAVE_BACKTRACE_LIB 1", text)
    )


def folders_of_packages():
    """Return the header folders of jsoncpp and Eigen, which are none of our parts."""
    result = []
    for package in ("jsoncpp", "eigen3"):
        try:
            done = subprocess.run(
                ["pkg-config", "--cflags-only-I", package], capture_output=True, text=True, check=False
            )
        except FileNotFoundError:
            break
        result += [flag[2:] for flag in done.stdout.split() if flag.startswith("-I")]
    # The compiler's own folder must stay the last one: its headers include_next each other.
    return [folder for folder in result if os.path.realpath(folder) != "/usr/include"]
