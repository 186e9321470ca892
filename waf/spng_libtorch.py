# SPDX-License-Identifier: Apache-2.0
"""LibTorch, and the CUDA headers that come with it or are given.

Only libtorch_cpu and libc10 are linked. CUDA is a plugin that the program loads when a CUDA device is asked
for (docs/decisions/cuda-plugin.md), so the same build works with a CPU-only LibTorch and on a machine without a GPU.
"""

import glob
import os
import re

from spng_options import folders

OLDEST = (2, 11)
NVTX_HEADER = "nvtx3/nvToolsExt.h"
API_INCLUDE = os.path.join("torch", "csrc", "api", "include")


def configure(cfg):
    note_absent_folders(cfg)
    include_folders, library_folders = locate(cfg)
    version = read_version(cfg, include_folders)
    library_folder = next(folder for folder in library_folders if has_libtorch(folder))
    reject_old_abi(cfg, library_folder)

    env = cfg.env
    env.TORCH_VERSION = version
    env.TORCH_FOLDER = os.path.dirname(library_folder)
    env.TORCH_CUDA = "yes" if has_library(library_folder, "torch_cuda") else "no"
    env.CXXFLAGS_TORCH = system_includes(include_folders)
    env.LIBPATH_TORCH = library_folders
    env.LIB_TORCH = ["torch_cpu", "c10"]
    env.RPATH_TORCH = unique(library_folders + cuda_libraries(cfg))
    cuda_headers(cfg, include_folders)


def system_includes(include_folders):
    """Return -isystem options, because we cannot correct warnings in headers of others."""
    return [flag for folder in include_folders for flag in ("-isystem", folder)]


def has_library(folder, name):
    return os.path.exists(os.path.join(folder, f"lib{name}.so"))


def has_libtorch(folder):
    return has_library(folder, "torch_cpu") and has_library(folder, "c10")


def locate(cfg):
    """Return (include folders, library folders) of LibTorch, from the options or its usual locations."""
    options = cfg.options
    include_folders = folders(options.with_libtorch_include)
    library_folders = folders(options.with_libtorch_lib)
    given = options.with_libtorch if options.with_libtorch not in (None, "yes") else None
    if given == "no":
        cfg.fatal("LibTorch cannot be left out: --with-libtorch=no has no meaning")
    for candidate in [given] if given else ([] if library_folders else usual_folders(cfg)):
        if has_libtorch(os.path.join(candidate, "lib")):
            library_folders = [os.path.join(candidate, "lib")] + library_folders
            include_folders += [os.path.join(candidate, "include")]
            break
    if not any(map(has_libtorch, library_folders)):
        looked = ", ".join(library_folders or ([os.path.join(given, "lib")] if given else usual_folders(cfg)))
        cfg.fatal(
            "LibTorch not found: no libtorch_cpu.so with libc10.so in "
            + (looked or "any usual location")
            + "\n"
            "  To fix: ./wcb setup puts it into .venv; or give --with-libtorch=DIR (the folder that has\n"
            "  include/ and lib/, for example the folder of Python's torch package)"
        )
    roots = [
        folder for folder in include_folders if os.path.exists(os.path.join(folder, "ATen", "Version.h"))
    ]
    if not roots:
        cfg.fatal(
            "LibTorch's headers not found: no ATen/Version.h in " + ", ".join(include_folders) + "\n"
            "  To fix: give --with-libtorch=DIR or --with-libtorch-include=A,B"
        )
    include_folders += [os.path.join(root, API_INCLUDE) for root in roots]
    return unique(include_folders), unique(library_folders)


def unique(paths):
    """Return the existing folders, absolute, each once, in order."""
    return list(dict.fromkeys(os.path.abspath(path) for path in paths if os.path.isdir(path)))


def usual_folders(cfg):
    """Return the folders of the checkout's virtual environment, an active one, conda, and the LIBTORCH
    variable.
    """
    roots = [
        os.path.join(cfg.path.abspath(), ".venv"),
        os.environ.get("VIRTUAL_ENV"),
        os.environ.get("CONDA_PREFIX"),
    ]
    found = [os.environ["LIBTORCH"]] if os.environ.get("LIBTORCH") else []
    for root in filter(None, roots):
        found += sorted(glob.glob(os.path.join(root, "lib", "python3*", "site-packages", "torch"))) + [root]
    return found


def read_version(cfg, include_folders):
    """Return the version from the headers, such as '2.11.0'; reject versions that are too old."""
    for folder in include_folders:
        for name in ("torch/headeronly/version.h", API_INCLUDE + "/torch/version.h"):
            path = os.path.join(folder, name)
            if os.path.exists(path):
                with open(path, encoding="utf-8") as stream:
                    numbers = re.findall(r"#define TORCH_VERSION_(?:MAJOR|MINOR|PATCH) +(\d+)", stream.read())
                if len(numbers) == 3:
                    if tuple(map(int, numbers[:2])) < OLDEST:
                        cfg.fatal(
                            f"LibTorch {'.'.join(numbers)} in {folder} is too old: 2.11 or newer is needed"
                        )
                    return ".".join(numbers)
    cfg.fatal("LibTorch's version not found: no torch/version.h in " + ", ".join(include_folders))


def reject_old_abi(cfg, library_folder):
    """Reject a libc10 that was built with the old std::string, which does not link with code of g++ 12."""
    with open(os.path.join(library_folder, "libc10.so"), "rb") as stream:
        if b"_ZN3c105ErrorC1ENS_14SourceLocationESs" in stream.read():
            cfg.fatal(
                f"LibTorch in {library_folder} was built with the old C++ ABI (_GLIBCXX_USE_CXX11_ABI=0).\n"
                "  To fix: take one with the new ABI; every wheel and archive since 2.7 has it"
            )


def cuda_libraries(cfg):
    """Return the folders where the CUDA plugin finds CUPTI and NVRTC when it opens them; nothing of them is
    linked.
    """
    site = os.path.dirname(cfg.env.TORCH_FOLDER)
    locations = folders(cfg.options.with_cuda_lib) + sorted(
        glob.glob(os.path.join(site, "nvidia", "*", "lib"))
    )
    if cfg.options.with_cuda not in (None, "yes", "no"):
        locations.insert(0, os.path.join(cfg.options.with_cuda, "lib"))
    return [
        location
        for location in locations
        if any(glob.glob(os.path.join(location, f"lib{name}.so*")) for name in ("cudart", "cupti", "nvrtc"))
    ]


def note_absent_folders(cfg):
    """Print a warning if a given folder does not exist, which is usually a typing error and rarely fatal."""
    for option in ("with_libtorch_include", "with_libtorch_lib", "with_cuda_include", "with_cuda_lib"):
        for folder in folders(getattr(cfg.options, option)):
            if not os.path.isdir(folder):
                cfg.env.append_value("NOTES", [f"--{option.replace('_', '-')}: no folder {folder}"])


def cuda_headers(cfg, torch_includes):
    """Return the folders with NVTX3, CUPTI and CUDA runtime headers; each is optional except NVTX with
    --with-nvtx.
    """
    options = cfg.options
    without_cuda = options.with_cuda == "no"
    if options.with_cuda not in (None, "yes", "no") and not os.path.isdir(options.with_cuda):
        cfg.fatal(f"--with-cuda={options.with_cuda}: no such folder")
    locations = folders(options.with_cuda_include)
    if options.with_cuda not in (None, "yes", "no"):
        locations += [os.path.join(options.with_cuda, "include")]
    if options.with_nvtx not in ("yes", "no"):
        nvtx_folder = os.path.join(options.with_nvtx, "include")
        if not os.path.exists(os.path.join(nvtx_folder, NVTX_HEADER)):
            cfg.fatal(
                f"--with-nvtx={options.with_nvtx}: no {NVTX_HEADER} in {nvtx_folder}\n"
                "  hint: give the folder that holds include/nvtx3, or --with-nvtx alone for the headers beside LibTorch"
            )
        locations.insert(0, nvtx_folder)
    site = os.path.dirname(cfg.env.TORCH_FOLDER)
    locations += torch_includes + sorted(glob.glob(os.path.join(site, "nvidia", "*", "include")))
    locations.append(os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "include"))

    def first_with(name):
        return next(
            (
                os.path.abspath(location)
                for location in locations
                if os.path.exists(os.path.join(location, name))
            ),
            "",
        )

    cfg.env.CUDA_INCLUDE = "" if without_cuda else first_with("cuda_runtime_api.h")
    cfg.env.CUPTI_INCLUDE = "" if without_cuda else first_with("cupti.h")
    if cfg.env.CUDA_INCLUDE:
        cfg.env.DEFINES_CUDA = ["SPNG_CUDA_HEADERS=1"]
    if cfg.env.CUPTI_INCLUDE:
        cfg.env.DEFINES_CUDA += ["SPNG_CUPTI_HEADERS=1"]
    cfg.env.CXXFLAGS_CUDA = system_includes(
        unique(filter(None, [cfg.env.CUDA_INCLUDE, cfg.env.CUPTI_INCLUDE]))
    )

    leave_out_broken_headers(cfg)

    cfg.env.WITH_NVTX = "no" if options.with_nvtx == "no" else "yes"
    if cfg.env.WITH_NVTX == "yes":
        cfg.env.NVTX_INCLUDE = first_with(NVTX_HEADER)
        if not cfg.env.NVTX_INCLUDE:
            cfg.fatal(
                "--with-nvtx: no nvtx3/nvToolsExt.h in " + ", ".join(locations) + "\n"
                "  To fix: ./wcb setup, or give --with-nvtx=DIR or --with-cuda-include=DIR"
            )
        cfg.env.CXXFLAGS_NVTX = system_includes([cfg.env.NVTX_INCLUDE])
        # SPNG_NVTX is this project's name, HAVE_NVTX the toolkit's.
        cfg.env.DEFINES_NVTX = ["SPNG_NVTX=1", "HAVE_NVTX=1"]


def leave_out_broken_headers(cfg):
    """Leave CUDA's headers out if they do not compile: since CUDA 13 those in crt/ are a package of their own."""
    if not cfg.env.CUDA_INCLUDE and not cfg.env.CUPTI_INCLUDE:
        return
    names = [
        name
        for name, folder in (("cuda_runtime_api.h", cfg.env.CUDA_INCLUDE), ("cupti.h", cfg.env.CUPTI_INCLUDE))
        if folder
    ]
    works = cfg.check_cxx(
        fragment="".join(f"#include <{name}>\n" for name in names) + "int main() { return 0; }\n",
        use="CUDA",
        features="cxx",
        mandatory=False,
        msg="Checking that CUDA's headers compile",
        errmsg="no: left out",
    )
    if not works:
        cfg.env.append_value(
            "NOTES",
            [
                f"CUDA's headers in {cfg.env.CUDA_INCLUDE or cfg.env.CUPTI_INCLUDE} do not compile (see config.log): "
                "recording of GPUs and the CUDA kernels are left out. To fix: ./wcb setup, or --with-cuda=DIR"
            ],
        )
        cfg.env.CUDA_INCLUDE = cfg.env.CUPTI_INCLUDE = ""
        cfg.env.DEFINES_CUDA = cfg.env.CXXFLAGS_CUDA = []
