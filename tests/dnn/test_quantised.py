# SPDX-License-Identifier: Apache-2.0
"""Quantised networks, whose operators release memory by its address: in the program, and in a host of a Pipeline."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.support import wire_cell
from tests.support.small_site import Site

torch = pytest.importorskip("torch")

pytestmark = wire_cell.needs_program

HOST = """
import sys
import torch
network, folder = sys.argv[1:]
images = torch.rand(1, 3, 64, 64)
def run():
    return torch.jit.load(network)(images)
first = run()
import spng
with spng.Pipeline(model="none", device="cpu"):
    during = run()
assert torch.equal(first, during) and torch.equal(first, run())
print("equal")
"""


@pytest.fixture(name="network", scope="module")
def fixture_network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a quantised convolution of three features."""

    class Network(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.convolution = torch.ao.nn.quantized.Conv2d(3, 1, 3, padding=1)
            self.convolution.set_weight_bias(
                torch.quantize_per_tensor(torch.full((1, 3, 3, 3), 0.05), 0.01, 0, torch.qint8), None
            )
            self.convolution.scale, self.convolution.zero_point = 0.05, 64

        def forward(self, features: torch.Tensor) -> torch.Tensor:
            quantised = torch.quantize_per_tensor(features, 0.02, 64, torch.quint8)
            return torch.sigmoid(self.convolution(quantised).dequantize())

    file = tmp_path_factory.mktemp("quantised") / "int8.ts"
    torch.jit.script(Network().eval()).save(str(file))
    return file


def test_a_job_with_a_quantised_network(network: Path, tmp_path: Path) -> None:
    """On both engines, with the same bytes."""
    site = Site.at(tmp_path)
    outputs = [
        site.job(
            site.busy_frames(2, 1500), output=f"{engine}.npz", device="cpu", model=network, engine=engine
        )
        for engine in ("Pgrapher", "TbbFlow")
    ]
    assert outputs[0].keys() == outputs[1].keys()
    for name, array in outputs[0].items():
        np.testing.assert_array_equal(outputs[1][name], array, err_msg=name)


def test_a_host_with_a_quantised_network_of_its_own(network: Path, tmp_path: Path) -> None:
    """Before, beside and after a Pipeline: the process goes on, and its numbers do not change."""
    done = subprocess.run(
        [sys.executable, "-c", HOST, str(network), str(tmp_path)],
        cwd=wire_cell.ROOT,
        env={**os.environ, "PYTHONPATH": str(wire_cell.ROOT / "python")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "equal\n"
