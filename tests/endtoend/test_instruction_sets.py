# SPDX-License-Identifier: Apache-2.0
"""Own kernels exist in versions for plain x86-64, AVX2 and AVX-512, and all give the same result: masks alike, charge within rounding.

The loader's choice is overruled by bench/cpp/force_clones.c, that of LibTorch and MKL by their environment variables.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from tests.support.small_site import Site
from tests.support.wire_cell import (
    PROGRAM,
    ROOT,
    Arrays,
    needs_program,
    read_arrays,
    run,
    write_arrays,
)

SOURCE = ROOT / "bench" / "cpp" / "force_clones.c"
LIBRARY = PROGRAM.parents[1] / "lib" / "libWireCellSpng.so"
VERSIONS = {
    "default": "sse",
    "arch_x86_64_v3": "avx2",
    "arch_x86_64_v4": "avx512f",
}  # and a flag of processors that can run it
TICKS = 600
# Sums in another order differ in the last digits of float32; ten transforms and a line between two samples are behind it.
CHARGE = 1e-3  # of the RMS of the samples with charge

pytestmark = [
    needs_program,
    pytest.mark.skipif(platform.machine() != "x86_64", reason="versions of kernels are for x86-64"),
    pytest.mark.skipif(shutil.which("cc") is None or shutil.which("nm") is None, reason="no compiler"),
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
    assert all(found == set(VERSIONS) for found in kernels.values()), kernels
    for known in (
        "subtract_median",
        "noise_of_row",
        "subtract_line",
        "sum_row",
        "compare_row",
        "fold_target",
    ):
        assert any(known in name for name in kernels), known


@pytest.fixture(name="forcing", scope="module")
def fixture_forcing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that overrules the loader."""
    library = tmp_path_factory.mktemp("forcing") / "force_clones.so"
    subprocess.run(
        ["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-o", library, SOURCE], check=True
    )
    return library


@pytest.fixture(name="results", scope="module")
def fixture_results(forcing: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Arrays]:
    """Output of the chain for each version that this processor can run, and as the loader chooses ("")."""
    folder = tmp_path_factory.mktemp("versions")
    site = Site.at(folder)
    write_arrays(folder / "adc.tar", site.busy_frames(4, TICKS))
    flags = Path("/proc/cpuinfo").read_text(encoding="utf-8").split()
    found = {}
    for version in ["", *(name for name, flag in VERSIONS.items() if flag in flags)]:
        environment = (
            {} if not version else {"LD_PRELOAD": f"{forcing} {LIBRARY}", "SPNG_FORCE_CLONES": version}
        )
        if version == "default":
            environment |= {"ATEN_CPU_CAPABILITY": "default", "MKL_ENABLE_INSTRUCTIONS": "SSE4_2"}
        output = folder / f"signal{version}.npz"
        arguments = {
            "input": folder / "adc.tar",
            "output": output,
            "tags": "signal,wiener,roi,mp2,mp3",
            "device": "cpu",
        }
        done = run(
            "-c",
            "cfg/pipeline.jsonnet",
            *site.flags,
            *(word for name, value in arguments.items() for word in ("-A", f"{name}={value}")),
            folder=folder,
            env={**os.environ, **environment},
        )
        assert done.returncode == 0, done.stderr
        assert ("kernels as " + version in done.stderr) == bool(version), done.stderr
        found[version] = read_arrays(output)
    return found


@needs_versions
def test_all_versions_give_the_same_result(results: dict[str, Arrays]) -> None:
    chosen = results.pop("")
    assert "default" in results
    for version, arrays in results.items():
        assert arrays.keys() == chosen.keys()
        for name, array in arrays.items():
            expected = chosen[name]
            if np.issubdtype(expected.dtype, np.integer):
                np.testing.assert_array_equal(array, expected, err_msg=f"{version} {name}")
                continue
            assert np.abs(expected).max() > 0
            scale = np.sqrt(np.mean(np.square(expected[expected != 0], dtype=np.float64)))
            assert np.abs(array.astype(np.float64) - expected).max() < CHARGE * scale, (version, name)


@needs_versions
def test_a_version_that_does_not_exist_is_not_taken_for_one(forcing: Path) -> None:
    done = run("-v", env={"LD_PRELOAD": f"{forcing} {LIBRARY}", "SPNG_FORCE_CLONES": "arch_x86_64_v9"})
    assert done.returncode == 3 and "no kernel has such a version" in done.stderr
