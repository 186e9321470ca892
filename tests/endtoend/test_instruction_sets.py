# SPDX-License-Identifier: Apache-2.0
"""Own kernels exist in versions for plain x86-64, AVX2 and AVX-512. Builds with sanitizers run all tests without versions."""

from __future__ import annotations

import platform
import shutil
import subprocess
from collections import defaultdict

import pytest

from tests.support.wire_cell import PROGRAM, needs_program

LIBRARY = PROGRAM.parents[1] / "lib" / "libWireCellSpng.so"
VERSIONS = {"default", "arch_x86_64_v3", "arch_x86_64_v4"}

pytestmark = [
    needs_program,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="versions of kernels are for x86-64"),
    pytest.mark.skipif(shutil.which("nm") is None, reason="no nm"),
]


def versions() -> dict[str, set[str]]:
    """Kernel -> its versions, from the names in the library."""
    names = subprocess.run(["nm", LIBRARY], capture_output=True, text=True, check=True).stdout.split()
    found: dict[str, set[str]] = defaultdict(set)
    for name in names:
        stem, _, version = name.rpartition(".")
        if version in VERSIONS and stem.startswith("_Z"):
            found[stem].add(version)
    return found


needs_versions = pytest.mark.skipif(
    not LIBRARY.exists() or not any("arch_x86_64_v4" in each for each in versions().values()),
    reason="a build without versions (sanitizers, another compiler)",
)


@needs_versions
def test_each_kernel_has_all_versions() -> None:
    """The kernels of baseline, noise, regions and coincidence are among them."""
    kernels = {name: found for name, found in versions().items() if len(found) > 1}
    assert len(kernels) >= 20
    assert all(found == VERSIONS for found in kernels.values()), kernels
    for known in (
        "subtract_median",
        "noise_of_row",
        "subtract_line",
        "sum_row",
        "compare_row",
        "fold_target",
    ):
        assert any(known in name for name in kernels), known
