# SPDX-License-Identifier: Apache-2.0
"""The text of ./wcb --help. Needs neither waf nor a virtual environment."""

from __future__ import annotations

import sys
import textwrap

from .checkout import ROOT

sys.path.insert(0, str(ROOT / "waf"))
import spng_options  # noqa: E402  (the declarations that configure uses)

HEAD = """\
wcb [command] [options]

Two commands do everything. They resume after an interruption and need only Debian 12's python3:
  demo        set-up, build with NVTX, run the main job on events of data/, make pictures and pages
  test        set-up, build, run all tests; last line: N passed, N failed, N skipped      (--only WORD: selected tests)

Set-up:
  setup       system packages (apt, with root or sudo) and Python packages (.venv)
                --full           all Python packages, CUDA's too: 2.8 GB to download, 5.1 GB on disk
                                 (default with an NVIDIA driver, and for test)
                --slim           without packages that only a GPU or Python's torch needs: 0.6 GB, 0.9 GB
                                 (default without a driver)
                --without-torch  without LibTorch; give yours by configure --with-libtorch=DIR
                --no-system      do not check the system packages
              demo and test accept these options too
  env         print shell lines: eval "$(./wcb env)" puts wire-cell and Python's packages on the paths
  shell       start your shell with that environment
  bench       measure every step and the chain (--all: all pages; --check: compare with the reference; bench --help)
  physics     simulate events, process them and compare the signals with the truth: JSON and one HTML page
                --robustness     outside of nominal conditions: noise, charge, gain, drift, steep lines, other responses
                --detectors      every detector, with its own files (--data FOLDER)
                --real FOLDER    real waveforms and published charge of real events: docs/real-data.md
  harden      run tests and jobs under sanitizers, and fuzz the readers: 30 to 40 minutes (harden --help)
  reliability measure the 20 targets of docs/reliability.md and write the page (--only R7,R12; --quick)
  lint        run all checks on changed files  (--all: on all; --fix: correct what can be corrected; lint --help)
  wheel       make a wheel of wire-cell and the Python packages, for machines without compiler or checkout (docs/packages.md)
                --out=DIR        folder of the wheel (default out/wheel)
                --no-build       pack the present build

Step by step, as in the Wire-Cell Toolkit:
  ./wcb configure --prefix=DIR --with-nvtx ...
  ./wcb                          (the same as: ./wcb build)
  ./wcb install

  configure   find compiler, LibTorch and the other parts; store the options
  build       build the library, wire-cell, the tests and the benchmarks
  install     bin/wire-cell, Python tools, lib/, include/, share/wirecell/{cfg,data} under --prefix (docs/packages.md)
  uninstall   remove what install copied
  clean       remove the build's outputs; distclean: also the result of configure
  list        list the targets
  clangdb     write compile_commands.json into the build folder

Options of configure:
  --prefix=DIR                   install destination (default /usr/local); --bindir=DIR, --libdir=DIR
  -o DIR, --out=DIR              build folder (default build)
  --build-mode=MODE              release (default), debug, asan (address, undefined) or tsan (threads)
  --build-debug=FLAGS            flags of the compiler after those of the mode, such as '-O0 -ggdb3'
  --with-nvtx[=DIR]              compile the NVTX ranges in; needs only NVTX3's headers
  --cuda-compiler=WHICH          compiler of the CUDA kernels: auto (default), nvcc, nvrtc, or none
  --with-lineinfo                line information in the CUDA kernels, for Nsight Compute
  --unity=N                      compile up to N sources of a folder together (default 8); 1: each alone
  --no-pch                       compile without a precompiled header; so does every compiler but g++
"""

PART_OPTIONS = """
  Locations of the parts: DIR has include/ and lib/. Each --with-NAME also has --with-NAME-include=A,B and
  --with-NAME-lib=A,B (folders) and --with-NAME-libs=x,y (names of libraries). Values other than DIR: yes, on, true or 1
  for the usual folders; no, off, false or 0 for a build without the part.
"""

TAIL = """
Options of build and install:
  -j N, --jobs=N                 compile N files at once (default: number of cores)
  -k, --keep                     continue after errors
  -v, --verbose                  show the compiler's command lines
  -p, --progress                 progress bar
  --targets=A,B                  build only these (see list)
  --notests                      build no tests and no benchmarks; --benchmarks with it: no tests
  --prefix=DIR                   install into DIR instead of configure's prefix; --bindir=DIR, --libdir=DIR
  --destdir=DIR                  install under DIR/PREFIX, for packagers
  --no-venv                      use the waflib of the python3 that runs ./wcb

Variables:
  CXX, CXXFLAGS, LINKFLAGS       compiler and additional flags, read by configure
  JOBS                           number of parallel jobs
  PREFIX, DESTDIR                like the options; for install, configure's --prefix overrides PREFIX
  LIBTORCH                       folder of LibTorch, before .venv is searched
  CONDA_PREFIX, PKG_CONFIG_PATH  searched for parts before the system is
  CUDA_HOME                      searched for CUDA headers and nvcc before /usr/local/cuda
  WAFLOCK                        name of the file that stores the build folder; with one name per build folder
                                 one checkout can have several builds
  PIP_*                          pip's own: PIP_INDEX_URL, PIP_CACHE_DIR, ...
  NO_COLOR, NOCOLOR              no colours
"""


def help_text() -> str:
    """Return the help page."""
    width = max(map(len, spng_options.PARTS))
    rows = spng_options.PARTS | {"boost": "Boost; also --boost-include=DIR, --boost-libs=DIR, --boost-mt"}
    parts = "".join(f"  --with-{name + '=DIR':{width + 8}}  {text}\n" for name, text in rows.items())
    ignored = [f"--with-{name}" for name in spng_options.FIELD_PARTS]
    ignored += list(spng_options.FIELD_FLAGS) + list(spng_options.FIELD_VALUES)
    note = textwrap.fill(
        " ".join(ignored), 110, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False
    )
    return (
        HEAD
        + PART_OPTIONS
        + parts
        + "\nOptions of the Wire-Cell Toolkit without a meaning here; they are accepted with a note:\n"
        + note
        + "\n"
        + TAIL
    )
