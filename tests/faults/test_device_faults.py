# SPDX-License-Identifier: Apache-2.0
"""CUDA devices that are not there or cannot be used: one readable block that says which, or the CPU where auto was asked for.

The driver is a small library made here and put before the real one. tests/graph/device_flow_test.cxx has what happens when a
device is lost in mid-run.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from tests.support import wire_cell

COPY = wire_cell.ROOT / "tests" / "app" / "jobs" / "copy.jsonnet"
pytestmark = [
    wire_cell.needs_program,
    pytest.mark.skipif(shutil.which("gcc") is None, reason="no C compiler"),
]

# The part of the driver's interface that tells what there is; answers come from the environment.
DRIVER = r"""
#include <stdlib.h>
static int number(const char *name) { const char *text = getenv(name); return text ? atoi(text) : 0; }
int cuInit(unsigned flags) { return flags ? 1 : number("FAKE_INIT"); }
int cuDeviceGetCount(int *count) { *count = number("FAKE_COUNT"); return 0; }
int cuDriverGetVersion(int *version) { *version = number("FAKE_VERSION"); return 0; }
int cuGetErrorName(int error, const char **name) { *name = error == 803 ? "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH" : 0; return *name ? 0 : 1; }
int cuGetErrorString(int error, const char **text) { *text = error == 803 ? "system has unsupported display driver" : 0; return *text ? 0 : 1; }
"""


@pytest.fixture(name="driver", scope="module")
def fixture_driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with a libcuda.so.1 that answers as told."""
    folder = tmp_path_factory.mktemp("driver")
    (folder / "driver.c").write_text(DRIVER, encoding="utf-8")
    subprocess.run(
        ["gcc", "-shared", "-fPIC", "-o", folder / "libcuda.so.1", folder / "driver.c"], check=True
    )
    return folder


def run_with(
    driver: Path, folder: Path, device: str, init: int = 0, count: int = 0, version: int = 13000, **extra: str
) -> subprocess.CompletedProcess:
    """The copying job with such a driver."""
    wire_cell.write_arrays(folder / "adc.npz", wire_cell.event(np.zeros((5, 100), np.int16), np.arange(5)))
    environment = {name: value for name, value in os.environ.items() if name != "CUDA_VISIBLE_DEVICES"}
    paths = [str(driver), environment.get("LD_LIBRARY_PATH", "")]
    environment |= {
        "LD_LIBRARY_PATH": ":".join(path for path in paths if path),
        "FAKE_INIT": str(init),
        "FAKE_COUNT": str(count),
        "FAKE_VERSION": str(version),
    } | extra
    words = wire_cell.settings("input=adc.npz", "output=out.npz", f"device={device}")
    return wire_cell.run("-c", COPY, *words, folder=folder, env=environment)


def rejected(*arguments: object, **keys: object) -> str:
    """The block on stderr; nothing is left behind."""
    done = run_with(*arguments, **keys)
    folder = arguments[1]
    assert done.returncode == 1, done.stderr
    assert sum(line.startswith("error: ") for line in done.stderr.splitlines()) == 1, done.stderr
    assert "Exception raised" not in done.stderr and "terminate" not in done.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["adc.npz"]
    return done.stderr


@pytest.mark.parametrize(
    "error, words, hint",
    [
        (100, "error (100)", "nvidia-smi"),
        (
            803,
            "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803): system has unsupported display driver",
            "restart the machine",
        ),
        (999, "error (999)", "nvidia-uvm"),
        (34, "error (34)", "stubs"),
    ],
)
def test_driver_that_does_not_start(driver: Path, tmp_path: Path, error: int, words: str, hint: str) -> None:
    """Report the error of the driver, and a hint."""
    block = rejected(driver, tmp_path, "cuda", init=error)
    assert "the requested CUDA device does not exist" in block
    assert f"'cuda', 0 CUDA devices on this machine; the driver reports {words}" in block
    assert hint in block and "device=cpu" in block


def test_devices_hidden_by_the_environment(driver: Path, tmp_path: Path) -> None:
    block = rejected(driver, tmp_path, "cuda", init=100, CUDA_VISIBLE_DEVICES="-1")
    assert "CUDA_VISIBLE_DEVICES is '-1'" in block


def test_number_beyond_the_last(driver: Path, tmp_path: Path) -> None:
    block = rejected(driver, tmp_path, "cuda:3", count=2)
    assert "'cuda:3', 2 CUDA devices on this machine" in block and "cuda:0 to cuda:1" in block


def cuda_of_libtorch() -> bool:
    """Whether the program's LibTorch has CUDA."""
    return wire_cell.PROGRAM.exists() and "with CUDA" in wire_cell.run("--version").stdout


needs_cuda = pytest.mark.skipif(not cuda_of_libtorch(), reason="a LibTorch without CUDA")


@needs_cuda
def test_driver_older_than_libtorch_needs(driver: Path, tmp_path: Path) -> None:
    block = rejected(driver, tmp_path, "cuda", count=1, version=11040)
    assert "the NVIDIA driver is too old" in block and "a driver for CUDA 11.4" in block
    assert "update the driver" in block and "a LibTorch for CUDA 11" in block


@needs_cuda
def test_device_that_cuda_cannot_start(driver: Path, tmp_path: Path) -> None:
    """The driver shows one, and then has nothing that the CUDA runtime needs."""
    assert "CUDA does not start" in rejected(driver, tmp_path, "cuda", count=1, version=13030)


@pytest.mark.parametrize(
    "error, count, version",
    [
        (803, 0, 13000),
        pytest.param(0, 1, 11040, marks=needs_cuda),
        pytest.param(0, 1, 13030, marks=needs_cuda),
    ],
)
def test_auto_uses_the_cpu_and_says_why(
    driver: Path, tmp_path: Path, error: int, count: int, version: int
) -> None:
    done = run_with(driver, tmp_path, "auto", init=error, count=count, version=version)
    assert done.returncode == 0, done.stderr
    assert ("no CUDA device can be used" if error else "the CUDA device is not used") in done.stderr
    assert (tmp_path / "out.npz").exists()


@pytest.mark.parametrize("error, count", [(100, 0), (0, 0)])
def test_auto_on_a_machine_without_a_device_is_silent(
    driver: Path, tmp_path: Path, error: int, count: int
) -> None:
    done = run_with(driver, tmp_path, "auto", init=error, count=count)
    assert done.returncode == 0 and done.stderr == "", done.stderr
