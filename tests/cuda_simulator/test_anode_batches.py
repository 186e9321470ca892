# SPDX-License-Identifier: Apache-2.0
"""Jobs of several anodes batch them on a device by themselves, as far as its memory allows (spng/job/load_job.cxx)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cuda_simulator.test_modes import assert_equal
from tests.support import cuda_simulator, small_anodes, wire_cell
from tests.support.cuda_simulator import Run

pytestmark = cuda_simulator.needs_simulator

TICKS = 300
# By the plan for 6000 ticks, one event takes 105 MB with anodes 1 and 2 in one batch, and 89 MB without; 266 and 221 MB
# in readout windows of 18,000 ticks. Nine tenths of the memory are the budget.
MUCH, FOR_NO_BATCH, FOR_BATCH, FOR_BATCH_OF_WINDOWS = 80_000, 110, 125, 300
BATCH = "alike ones in one batch"


class Anodes:
    """A folder with an event of three anodes, of which two are alike."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.flags = small_anodes.write_description(folder)
        parts = len(small_anodes.ANODES)
        readout = small_anodes.readout(folder, parts, TICKS)
        samples = np.concatenate(np.split(readout, parts, axis=1))
        wire_cell.write_arrays(folder / "adc.npz", wire_cell.event(samples, np.arange(len(samples))))
        # On the CPU anodes are not batched.
        given = {"tpcid": "all", "model": "none", "threads": 1, "device": "cpu"}
        self.on_cpu = wire_cell.job(folder, *self.flags, input="adc.npz", **given)

    def run(self, *options: str, memory_mb: float = MUCH, emulate: int = 1, **arguments: object) -> Run:
        """Run the job over the simulator, to its good end."""
        run = cuda_simulator.job(
            self.folder,
            self.flags,
            {"tpcid": "all", **arguments},
            "-L",
            "info",
            *options,
            memory_mb=memory_mb,
            emulate=emulate,
        )
        assert run.done.returncode == 0, run.done.stderr
        return run

    def check(self, memory_mb: float = MUCH, **arguments: object) -> str:
        """Return the choice that --check prints."""
        return choice(self.run("--check-configuration", memory_mb=memory_mb, **arguments).done.stdout)


def choice(text: str) -> str:
    """The line on the anodes, in a log or in the output of --check; empty without one."""
    lines = [line.split("anodes: ")[1] for line in text.splitlines() if "anodes: " in line]
    assert len(lines) <= 1, text
    return lines[0] if lines else ""


@pytest.fixture(name="anodes", scope="module")
def fixture_anodes(tmp_path_factory: pytest.TempPathFactory) -> Anodes:
    return Anodes(tmp_path_factory.mktemp("anodes"))


def labels(run: Run) -> set[str]:
    """The batches of the anodes 1 and 2 in the timing table."""
    return {label for label in ("anode1-", "anode2-", "anodes1+2-") if label in run.done.stdout}


def test_batch_unless_memory_is_short(anodes: Anodes) -> None:
    """A batch of two anodes takes the launches of one, so those of two for all three. test_modes compares its numbers."""
    apart = anodes.run(memory_mb=FOR_NO_BATCH, events_in_flight=1)
    apart.report.check()
    assert "take 266 MB, more than the memory budget" in choice(apart.done.stderr)
    assert labels(apart) == {"anode1-", "anode2-"}
    assert apart.report.all["peak_bytes"]["0"] <= FOR_NO_BATCH * 1e6
    assert_equal(wire_cell.read_arrays(anodes.folder / "cuda.npz"), anodes.on_cpu)
    assert anodes.check(memory_mb=FOR_NO_BATCH) == choice(apart.done.stderr)

    together = anodes.run(events_in_flight=1, emulate=0)
    assert choice(together.done.stderr) == BATCH and labels(together) == {"anodes1+2-"}
    assert 0.65 < together.report.kernels() / apart.report.kernels() < 0.8


def test_devices_and_budgets(anodes: Anodes) -> None:
    assert anodes.check(device="auto") == BATCH
    assert anodes.check(memory_mb=FOR_BATCH_OF_WINDOWS) == BATCH
    assert "take 266 MB" in anodes.check(memory_mb=FOR_BATCH_OF_WINDOWS, device="cuda:0,cuda:0")
    assert "take 266 MB" in anodes.check(memory_budget="260MB")
    assert anodes.check(memory_mb=FOR_BATCH, window=-1) == BATCH


@pytest.mark.parametrize(
    "arguments",
    [{"device": "cpu"}, {"batch_anodes": "true"}, {"tpcid": "0,1"}],
    ids=["cpu", "asked", "different"],
)
def test_no_choice(anodes: Anodes, arguments: dict[str, str]) -> None:
    assert anodes.check(**arguments) == ""
