# SPDX-License-Identifier: Apache-2.0
"""The simulated CUDA runtime of the tests (docs/decisions/cuda-simulator.md): libraries with the names of CUDA's own.

They are built where LibTorch is for CUDA and SPNG's kernels are compiled.
"""

import glob
import os
import sys

from waflib import TaskGen

FOLDER = "tests/cuda_simulator"

# The symbols that the other libraries use of the runtime; the rest is hidden.
RUNTIME_SYMBOLS = """{name} {{
    global: cuda*; __cuda*; InitializeInjectionNvtx2; extern "C++" {{ cuda_simulator::*; }};
    local: *;
}};
"""


def build(bld):
    env = bld.env
    if not env.CUDA_COMPILER or not env.HAVE_GTEST or bld.options.notests:
        return
    env.LIB_C10_CUDA, env.LIBPATH_C10_CUDA = ["c10_cuda"], env.LIBPATH_TORCH
    runtime = next(name[1:] for name in env.LIB_CUDART if name.startswith(":"))
    stubs = bld.path.find_or_declare(f"{FOLDER}/missing.cxx")
    bld(
        rule=stubs_rule(runtime, libraries_of_torch(env)),
        source=bld.path.find_node(f"{FOLDER}/missing.py"),
        target=stubs,
    )
    symbols = bld.path.find_or_declare(f"{FOLDER}/runtime.map")
    symbols.write(RUNTIME_SYMBOLS.format(name=runtime))

    def library(name, part, use="", linked=(), linkflags=(), more=()):
        """Build the sources of a folder."""
        own = env.derive()
        own.cxxshlib_PATTERN = "%s"  # names with a release
        bld.shlib(
            features="simulated",
            linked=linked,
            target=f"{FOLDER}/{name}",
            source=bld.path.ant_glob(f"{FOLDER}/{part}/*.cxx") + list(more),
            includes=["."],
            use=f"{use} CUDA SYSTEM",
            env=own,
            linkflags=[f"-Wl,-soname,{name}", *linkflags],
            rpath="$ORIGIN",
            install_path=None,
            name=f"simulated_{part}",
        )

    def exported(part):
        return [f"-Wl,--version-script,{bld.path.find_node(f'{FOLDER}/{part}').abspath()}"]

    library(
        runtime,
        "runtime",
        "NVTX",
        linkflags=[f"-Wl,--version-script,{symbols.abspath()}"],
        more=[stubs, bld.path.find_node("tests/kernels/emulated_kernels.cxx")],
    )
    library("libcuda.so.1", "driver")
    library("libnvidia-ml.so.1", "nvml")
    library(release_of(env, "libcufft.so"), "fft", linked=["runtime"], linkflags=exported("fft/cufft.map"))
    library(
        release_of(env, "libcupti.so"), "cupti", linked=["runtime"], linkflags=exported("cupti/libcupti.map")
    )
    library("libSpngSimulatedOperators.so", "operators", "TORCH C10_CUDA", linked=["runtime", "fft"])


@TaskGen.feature("simulated")
@TaskGen.after_method("apply_link")
def link_simulated(self):
    """Link other libraries of the simulator by their files: their names have a release."""
    for part in self.linked:
        other = self.bld.get_tgen_by_name(f"simulated_{part}")
        other.post()
        self.link_task.set_run_after(other.link_task)
        self.link_task.dep_nodes.append(other.link_task.outputs[0])
        self.env.append_value("LDFLAGS", [other.link_task.outputs[0].abspath()])


def libraries_of_torch(env):
    """Return the files of LibTorch that may use CUDA."""
    return sorted(glob.glob(os.path.join(env.LIBPATH_TORCH[0], "*.so")))


def stubs_rule(runtime, libraries):
    def rule(task):
        command = [sys.executable, task.inputs[0].abspath(), "--provider", runtime]
        return task.exec_command([*command, "--output", task.outputs[0].abspath(), *libraries])

    return rule


def release_of(env, name):
    """Return the name with the release of a library that LibTorch loads: libcufft.so.12."""
    for folder in env.RPATH_TORCH:
        for path in sorted(glob.glob(os.path.join(folder, name + ".*"))):
            if os.path.basename(path).count(".") == 2:
                return os.path.basename(path)
    raise FileNotFoundError(f"LibTorch for CUDA has no {name}")
