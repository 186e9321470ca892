# SPDX-License-Identifier: Apache-2.0
"""The compiler and its flags, by build mode."""

import shlex

FLAGS = {
    "release": ["-O2", "-g1"],
    "debug": ["-O0", "-g"],
    "asan": ["-O1", "-g", "-fno-omit-frame-pointer", "-fsanitize=address,undefined,float-cast-overflow"],
    "tsan": ["-O1", "-g", "-fno-omit-frame-pointer", "-fsanitize=thread"],
}


def configure(cfg):
    if cfg.env.CXX_NAME == "gcc" and int(cfg.env.CC_VERSION[0]) < 12:
        cfg.fatal(f"g++ {'.'.join(cfg.env.CC_VERSION)} is too old: g++ 12 or newer is needed (apt: g++-12)")
    mode = cfg.options.build_mode
    # at::parallel_for is inlined from LibTorch's headers and runs serially in code that is compiled without
    # OpenMP. Thread sanitizer does not know libgomp's synchronisation and would report every parallel loop.
    openmp = [] if mode == "tsan" else ["-fopenmp"]
    flags = FLAGS[mode]
    cfg.env.BUILD_MODE = mode
    # Options remembered from before there was this one have no value.
    given = shlex.split(getattr(cfg.options, "build_debug", ""))
    # What the user gave in CXXFLAGS comes last and wins.
    cfg.env.CXXFLAGS = (
        ["-std=c++20", "-pthread", "-Wall", "-Wextra"] + openmp + flags + given + cfg.env.CXXFLAGS
    )
    cfg.env.DEFINES += ["NDEBUG"] if mode == "release" else ["SPNG_DEBUG=1"]
    cfg.env.LINKFLAGS += ["-pthread"] + openmp + [flag for flag in flags if flag.startswith("-fsanitize")]
    # A symbol that no library has is an error now, not at the user's first run. Sanitizers add some late.
    cfg.env.LINKFLAGS_COMPLETE = ["-Wl,-z,defs"] if mode in ("release", "debug") else []
    # Sanitizers put their own dlopen between the launcher and the system's, which then searches the folders of the
    # sanitizer's library: unlike RUNPATH, the launcher's RPATH is searched for every library.
    cfg.env.LINKFLAGS_LAUNCHER = ["-Wl,--disable-new-dtags"] if mode in ("asan", "tsan") else []
    cfg.env.LIB_SYSTEM = ["dl", "pthread"]
