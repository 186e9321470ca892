# SPDX-License-Identifier: Apache-2.0
"""Jobs of several anodes batch them on a device by themselves, as far as its memory allows (spng/app/load_job.h)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cuda_simulator.test_modes import TAGS, assert_equal
from tests.support import cuda_simulator, small_anodes, wire_cell
from tests.support.cuda_simulator import Run

pytestmark = cuda_simulator.needs_simulator

TICKS, EVENTS = 800, 2
MUCH = 80_000  # MB
# By the plan for 6000 ticks, one event takes 105 MB with anodes 1 and 2 in one batch, and 89 MB without; 266 and 221 MB
# in readout windows of 18,000 ticks. Nine tenths of the memory are the budget.
FOR_NO_BATCH, FOR_BATCH, FOR_BATCH_OF_WINDOWS = 110, 120, 300


class Anodes:
    """A folder with events of three anodes, of which two are alike."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.flags = small_anodes.write_description(folder)
        self.parts = len(small_anodes.ANODES)
        readout = small_anodes.readout(folder, EVENTS * self.parts, TICKS)
        self.arrays: wire_cell.Arrays = {}
        for ident, event in enumerate(np.split(readout, EVENTS, axis=1)):
            samples = np.concatenate(np.split(event, self.parts, axis=1))
            self.arrays |= wire_cell.event(samples, np.arange(len(samples)), ident)
        wire_cell.write_arrays(folder / "adc.npz", self.arrays)

    def on_cuda(self, *options: str, memory_mb: float = MUCH, **arguments: object) -> Run:
        """Run the job over the simulator, to its good end."""
        given = {"tpcid": "all", "tags": TAGS, **arguments}
        run = cuda_simulator.job(self.folder, self.flags, given, "-L", "info", *options, memory_mb=memory_mb)
        assert run.done.returncode == 0, run.done.stderr
        return run

    def result(self) -> wire_cell.Arrays:
        return wire_cell.read_arrays(self.folder / "cuda.npz")


@pytest.fixture(name="anodes", scope="module")
def fixture_anodes(tmp_path_factory: pytest.TempPathFactory) -> Anodes:
    return Anodes(tmp_path_factory.mktemp("anodes"))


@pytest.fixture(name="cpu", scope="module")
def fixture_cpu(anodes: Anodes) -> wire_cell.Arrays:
    """The answer of the CPU, where anodes are not batched."""
    given = {"tpcid": "all", "tags": TAGS, "model": "none", "threads": 1, "device": "cpu"}
    return wire_cell.job(anodes.folder, *anodes.flags, input="adc.npz", **given)


def choice(text: str) -> str:
    """The line on the anodes, in a log or in the output of --check; empty without one."""
    lines = [line.split("anodes: ")[1] for line in text.splitlines() if "anodes: " in line]
    assert len(lines) <= 1, text
    return lines[0] if lines else ""


@pytest.mark.parametrize("device", ["auto", "cuda"])
def test_default_is_a_batch(anodes: Anodes, cpu: wire_cell.Arrays, device: str) -> None:
    devices = 1
    run = anodes.on_cuda(device=device)
    run.report.check()
    assert devices and choice(run.done.stderr) == "alike ones in one batch"
    assert "anodes1+2-induction" in run.done.stdout
    assert_equal(anodes.result(), cpu)


def test_batch_has_fewer_launches(anodes: Anodes, cpu: wire_cell.Arrays) -> None:
    """A batch of two costs the launches of one: events of three anodes cost those of two, beside the nodes for all."""
    launches = {}
    for batch in ("auto", "false"):
        few, many = (anodes.on_cuda(batch_anodes=batch, nevents=count).report.kernels() for count in (1, EVENTS))
        launches[batch] = many - few
    assert_equal(anodes.result(), cpu)
    assert 0.6 < launches["auto"] / launches["false"] < 0.75, launches
