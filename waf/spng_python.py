# SPDX-License-Identifier: Apache-2.0
"""The module spng._core of the Python package in python/, for the Python of the virtual environment."""

import json
import os
import subprocess

QUESTION = """
import json, sysconfig
facts = {"include": sysconfig.get_paths()["include"], "suffix": sysconfig.get_config_var("EXT_SUFFIX")}
try:
    import nanobind
    facts |= {"nanobind": nanobind.include_dir(), "source": nanobind.source_dir()}
except ImportError:
    pass
print(json.dumps(facts))
"""
# Those that nanobind's own CMake functions set.
FLAGS = ["-fvisibility=hidden", "-fno-strict-aliasing", "-ffunction-sections", "-fdata-sections"]


def configure(cfg):
    """Find Python's headers and nanobind; without them the module is left out."""
    env = cfg.env
    python = os.path.join(cfg.path.abspath(), ".venv", "bin", "python")
    env.PYTHON_MODULE = ""
    if not os.path.exists(python):
        env.append_value("NOTES", "no Python package spng: there is no .venv (./wcb setup)")
        return
    facts = json.loads(subprocess.run([python, "-c", QUESTION], capture_output=True, check=True).stdout)
    if not os.path.exists(os.path.join(facts["include"], "Python.h")):
        env.append_value(
            "NOTES", f"no Python package spng: {facts['include']} has no Python.h (apt-get install libpython3-dev)"
        )
    elif "nanobind" not in facts:
        env.append_value("NOTES", "no Python package spng: .venv has no nanobind (./wcb setup)")
    else:
        env.PYTHON_MODULE = f"_core{facts['suffix']}"
        env.NANOBIND_SOURCE = os.path.join(facts["source"], "nb_combined.cpp")
        robin_map = os.path.join(os.path.dirname(facts["source"]), "ext", "robin_map", "include")
        env.CXXFLAGS_PYTHON = [
            flag for folder in (facts["include"], facts["nanobind"], robin_map) for flag in ("-isystem", folder)
        ]


def build(bld):
    """Build the module into the folder python/spng of the build, where python/spng/__init__.py finds it."""
    env = bld.env
    if not env.PYTHON_MODULE:
        return
    own = env.derive()
    own.cxxshlib_PATTERN = "%s"
    nanobind = bld.bldnode.make_node("python/nanobind.cxx")
    text = f'#include "{env.NANOBIND_SOURCE}"\n'
    if not nanobind.exists() or nanobind.read() != text:
        nanobind.parent.mkdir()
        nanobind.write(text)
    bld.shlib(
        target=f"python/spng/{env.PYTHON_MODULE}",
        source=[*bld.path.ant_glob("python/bindings/*.cxx"), nanobind],
        includes=[".", "spng/include"],
        use="spng PYTHON FMT TORCH NLOHMANN SYSTEM",
        env=own,
        cxxflags=FLAGS,
        defines=["NB_COMPACT_ASSERTIONS"],
        rpath=["$ORIGIN/../../lib", *env.RPATH_TORCH],
        install_path=None,
        name="python",
    )
