# SPDX-License-Identifier: Apache-2.0
"""Compare the chain on a CUDA device with the CPU; behaviour without a device is also tested."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from tests.support import wire_cell
from tests.support.cuda_devices import device_count

ROOT = Path(__file__).resolve().parents[2]
ADC = ROOT / "data" / "tracks10-adc.tar.bz2"


needs_none = pytest.mark.skipif(device_count() > 0, reason="there is a CUDA device on this machine")


def signal(output: Path, *arguments: str) -> np.ndarray:
    done = wire_cell.run("-c", "pipeline.jsonnet", "-A", f"input={ADC}", "-A", f"output={output}", *arguments)
    assert done.returncode == 0, done.stderr
    with np.load(output) as arrays:
        return arrays["frame_signal_0"].astype(np.float64)


@pytest.mark.gpu
def test_cuda_equals_cpu(tmp_path: Path) -> None:
    """ROIs agree on 99.9 % of their samples, and values within 1e-4 of the RMS if both have an ROI."""
    cpu = signal(tmp_path / "cpu.npz", "-A", "device=cpu")
    cuda = signal(tmp_path / "cuda.npz", "-A", "device=cuda")
    either = (cpu != 0) | (cuda != 0)
    both = (cpu != 0) & (cuda != 0)
    assert both.sum() >= 0.999 * either.sum()
    assert np.abs(cpu - cuda)[both].max() <= 1e-4 * cpu[both].std()


@pytest.mark.gpu
def test_cuda_repeats_to_the_byte(tmp_path: Path) -> None:
    first = signal(tmp_path / "first.npz", "-A", "device=cuda", "-A", "precision=exact")
    again = signal(tmp_path / "again.npz", "-A", "device=cuda", "-A", "precision=exact")
    assert np.array_equal(first, again)


@needs_none
def test_cuda_without_a_device_is_rejected_in_one_block(tmp_path: Path) -> None:
    done = wire_cell.run(
        "-c",
        "pipeline.jsonnet",
        *wire_cell.settings(f"input={ADC}", f"output={tmp_path / 'x.npz'}", "device=cuda"),
    )
    assert done.returncode == 1
    assert done.stderr.startswith("error: the requested CUDA device does not exist")
    assert "0 CUDA devices on this machine" in done.stderr
    assert list(tmp_path.iterdir()) == []


@needs_none
def test_auto_takes_the_cpu_and_loads_no_cuda(tmp_path: Path) -> None:
    """With device=auto the report names the CPU, and libtorch_cuda is not opened."""
    done = wire_cell.run(
        "-c", "pipeline.jsonnet", "--check-configuration", env={**os.environ, "LD_DEBUG": "files"}
    )
    assert done.returncode == 0
    assert "libtorch_cpu.so" in done.stderr and "libtorch_cuda.so" not in done.stderr
