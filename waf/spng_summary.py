# SPDX-License-Identifier: Apache-2.0
"""Print the results of configure and the next command."""

from spng_options import ignored_options
from waflib import Logs


def configure(cfg):
    env = cfg.env
    env.RPATH_TORCH = env.RPATH_TORCH + [
        folder for folder in env.RPATH_PARTS if folder not in env.RPATH_TORCH
    ]
    rows = [
        ("compiler", f"{env.CXX_NAME} {'.'.join(env.CC_VERSION)}, C++20, {env.BUILD_MODE}"),
        ("LibTorch", f"{env.TORCH_VERSION} ({env.TORCH_FOLDER})"),
        (
            "  CUDA",
            "yes, loaded when a job uses a CUDA device" if env.TORCH_CUDA == "yes" else "no, CPU only",
        ),
        ("  C++ ABI", "new (_GLIBCXX_USE_CXX11_ABI=1)"),
        (
            "NVTX ranges",
            f"compiled in ({env.NVTX_INCLUDE})" if env.WITH_NVTX == "yes" else "left out (--with-nvtx)",
        ),
        ("CUDA headers", env.CUDA_INCLUDE or "none"),
        ("CUDA kernels", env.CUDA_COMPILER_TEXT),
        ("Python module", env.PYTHON_TEXT),
        ("WCT plugin", env.WIRECELL_TEXT),
    ]
    rows += [tuple(text.split(": ", 1)) for text in env.PARTS_FOUND]
    rows += [("install to", env.PREFIX), ("build in", cfg.bldnode.abspath())]
    rows += [("note", text) for text in env.NOTES]
    rows += [
        ("note", f"{option} has no meaning here and is ignored") for option in ignored_options(cfg.options)
    ]
    Logs.info("")
    for name, text in rows:
        Logs.info(f"  {name:14} {text}")
    Logs.info("\nNext: ./wcb")
