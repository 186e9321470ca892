# SPDX-License-Identifier: Apache-2.0
"""clang-tidy with the flags that configure chose; it reads the headers of LibTorch with its own compiler."""

from __future__ import annotations

import ast
import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ..checkout import ROOT
from .environment import tool

# The compiler of clang-tidy has no omp.h, and the headers of LibTorch want it with this flag; the others are for g++ alone.
NOT_FOR_CLANG = ("-fopenmp", "-MMD", "-g1", "-g", "-O2", "-O1")
OWN_HEADERS = r"^(.*/)?(spng|adapters|profiling|tests)/.*\.(h|cuh)$"


def flags(folder: Path) -> list[str]:
    """Return the flags of all parts, from the file in which configure keeps them."""
    cache = (folder / "c4che" / "_cache.py").read_text(encoding="utf-8")
    values = {
        name: ast.literal_eval(value)
        for name, value in re.findall(r"^(\w+) = (\[.*\])$", cache, re.MULTILINE)
    }
    found = [flag for name in values if re.match(r"CXXFLAGS(_[A-Z]|$)", name) for flag in values[name]]
    found += [
        f"-D{define}"
        for name in values
        if name.startswith("DEFINES")
        for define in values[name]
        if name != "DEFINES_ST"
    ]
    found += [f"-I{path}" for name in values if name.startswith("INCLUDES") for path in values[name]]
    own = [f"-I{path}" for path in (ROOT, ROOT / "spng" / "include", folder / "include")]
    defines = [f'-DSPNG_SOURCE_DIR="{ROOT}"']
    return [flag for flag in found if flag not in NOT_FOR_CLANG] + own + defines


def check(folder: Path, paths: list[str]) -> tuple[int, str]:
    """Check sources with the flags of a configured build; return the number of files with findings, and the findings."""
    given = flags(folder)
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as workers:
        results = list(workers.map(lambda path: check_one(path, given), paths))
    return sum(bool(result) for result in results), "\n".join(filter(None, results))


def check_one(path: str, given: list[str]) -> str:
    """Return the findings in one source and the headers of ours that it includes, or nothing."""
    done = subprocess.run(
        [tool("clang-tidy"), "--quiet", f"--header-filter={OWN_HEADERS}", path, "--", *given],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or (done.stderr.strip() if done.returncode else "")
