# SPDX-License-Identifier: Apache-2.0
"""The simulated CUDA runtime of the tests (docs/decisions/cuda-simulator.md): libraries with the names of CUDA's own.

They are built where LibTorch is for CUDA and SPNG's kernels are compiled.
"""

import glob
import os
import sys

FOLDER = "tests/cuda_simulator"

# Everything of the runtime and of the simulator's interface can be used by the other libraries; the rest is hidden.
RUNTIME_SYMBOLS = """{name} {{
    global: cuda*; __cuda*; extern "C++" {{ cuda_simulator::*; }};
    local: *;
}};
"""


def build(bld):
    env = bld.env
    if not env.CUDA_COMPILER or not env.HAVE_GTEST or bld.options.notests:
        return
    runtime_name = next(name[1:] for name in env.LIB_CUDART if name.startswith(":"))
    release = runtime_name.rsplit(".", 1)[1]
    stubs = bld.path.find_or_declare(f"{FOLDER}/missing.c")
    bld(
        rule=stubs_rule(runtime_name, torch_libraries(env)),
        source=bld.path.find_node(f"{FOLDER}/missing.py"),
        target=stubs,
    )
    symbols = bld.path.find_or_declare(f"{FOLDER}/runtime.map")
    bld(
        rule=lambda task: task.outputs[0].write(RUNTIME_SYMBOLS.format(name=runtime_name)),
        target=symbols,
        update_outputs=True,
    )

    def library(name, source, use="", linkflags=(), depends=()):
        own = env.derive()
        own.cxxshlib_PATTERN = "%s"  # a name with a release
        bld.shlib(
            target=f"{FOLDER}/{name}",
            source=source,
            includes=["."],
            use=f"CUDA {use}",
            env=own,
            linkflags=[f"-Wl,-soname,{name}", *linkflags],
            rpath="$ORIGIN",
            install_path=None,
            name=name,
        )

    def sources(part):
        return bld.path.ant_glob(f"{FOLDER}/{part}/*.cxx")

    library(
        runtime_name,
        [*sources("runtime"), stubs, bld.path.find_node("tests/kernels/emulated_kernels.cxx")],
        use="SYSTEM",
        linkflags=[f"-Wl,--version-script,{symbols.abspath()}"],
    )
    bld.get_tgen_by_name(runtime_name).post()
