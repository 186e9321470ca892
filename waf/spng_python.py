# SPDX-License-Identifier: Apache-2.0
"""The Python module spng._core, for the Python that runs the build: that of the virtual environment.

The package's own code is in python/spng, which finds the module in the build folder.
"""

import importlib.util
import os
import sysconfig

from spng_python_tools import module_search_path, site_packages

SOURCES = "python/bindings/*.cxx"


def configure(cfg):
    """Find Python.h and nanobind. Without them the module is left out."""
    include_folder = sysconfig.get_path("include")
    nanobind = importlib.util.find_spec("nanobind")
    env = cfg.env
    env.HAVE_PYTHON = 0
    if not os.path.exists(os.path.join(include_folder, "Python.h")):
        env.PYTHON_TEXT = f"left out: no Python.h in {include_folder} (apt: python3-dev; ./wcb setup)"
    elif env.BUILD_MODE in ("asan", "tsan"):
        env.PYTHON_TEXT = "left out: a sanitizer needs a program that was built with it"
    elif nanobind is None:
        env.PYTHON_TEXT = "left out: no nanobind (./wcb setup)"
    else:
        folder = os.path.dirname(nanobind.origin)
        env.HAVE_PYTHON = 1
        env.PYTHON_TEXT = f"{sysconfig.get_python_version()} ({include_folder})"
        env.NANOBIND_SOURCE = os.path.join(folder, "src")
        env.PYTHON_SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
        folders = (
            include_folder,
            os.path.join(folder, "include"),
            os.path.join(folder, "ext", "robin_map", "include"),
        )
        env.CXXFLAGS_PYTHON = [
            "-fvisibility=hidden",
            *(flag for each in folders for flag in ("-isystem", each)),
        ]
        if env.BUILD_MODE == "release":
            env.DEFINES_PYTHON = ["NB_COMPACT_ASSERTIONS"]


def build(bld):
    """Build nanobind's source and the bindings into one module."""
    if not bld.env.HAVE_PYTHON:
        return
    source = bld.root.find_node(os.path.join(bld.env.NANOBIND_SOURCE, "nb_combined.cpp"))
    # CPython's structures alias; warnings of others cannot be corrected here.
    bld.objects(
        source=[source],
        use="PYTHON",
        cxxflags=["-fno-strict-aliasing", "-w"],
        name="nanobind",
        target="python/nanobind",
    )
    env = bld.env.derive()
    env.cxxshlib_PATTERN = f"%s{bld.env.PYTHON_SUFFIX}"
    bld.shlib(
        env=env,
        target="python/spng/_core",
        source=bld.path.ant_glob(SOURCES),
        use="nanobind spng FMT TORCH PYTHON NLOHMANN SYSTEM",
        # Python's own symbols are those of the program that loads the module.
        linkflags=["-Wl,--as-needed"],
        rpath=["$ORIGIN/../../lib", module_search_path(bld.env)],
        install_path=f"${{PREFIX}}/{site_packages()}/spng",
        name="spng_python",
    )
