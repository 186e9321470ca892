# SPDX-License-Identifier: Apache-2.0
"""Short readouts that come through a pipe: memory does not depend on the length, charge comes back."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support import wire_cell
from tests.support.small_detector import small_detector, write_description
from tests.support.soak import check, run
from tests.support.soak.readout import Readout, simulated

pytestmark = wire_cell.needs_program

TICKS = (48_000, 192_000)
WINDOW = 18_000, 12_000  # length, from one to the next


@pytest.fixture(name="runs", scope="module")
def fixture_runs(tmp_path_factory: pytest.TempPathFactory) -> dict[int, tuple[run.Run, check.Charges, int]]:
    """By length: what it cost, the charges, and the ticks of the output."""
    folder = tmp_path_factory.mktemp("soak")
    flags = write_description(folder)
    anode, templates = small_detector(folder), simulated(folder, flags, events=4, seed=11)
    found = {}
    for ticks in TICKS:
        readout = Readout(anode, templates, ticks, frame_ticks=5000)
        cost = run.process_readout(folder, flags, readout, "signal.tar.gz", 0.1)
        found[ticks] = (cost, *check.charges(folder / "signal.tar.gz", readout))
    return found


def test_memory_is_that_of_the_windows(runs: dict[int, tuple[run.Run, check.Charges, int]]) -> None:
    peaks = [runs[ticks][0].peak_mb for ticks in TICKS]
    assert peaks[1] < 1.05 * peaks[0], peaks


@pytest.mark.parametrize("ticks", TICKS)
def test_as_many_windows_as_the_length_says(
    runs: dict[int, tuple[run.Run, check.Charges, int]], ticks: int
) -> None:
    """Each is the same work, so the cost is a straight line."""
    length, step = WINDOW
    assert len(runs[ticks][0].cpu_s) == 1 + -(-(ticks - length) // step)
    assert runs[ticks][2] == ticks


def test_charge(runs: dict[int, tuple[run.Run, check.Charges, int]]) -> None:
    """Every event, whether a seam goes through it or not."""
    charges = runs[TICKS[1]][1]
    assert charges.at_seam.sum() >= 8 and (~charges.at_seam).sum() >= 4
    ratio = charges.seen.sum(axis=0) / charges.true.sum(axis=0)
    assert (np.abs(ratio - 1) < (0.06, 0.06, 0.03)).all(), ratio
    without, with_seam, error = charges.ratios()
    assert (np.abs(with_seam - without) < 4 * error + 0.002).all(), (without, with_seam, error)


def test_slope_is_told_from_noise() -> None:
    """Of values that grow by a tenth of their mean, and of noise."""
    rng = np.random.default_rng(3)
    noise = rng.normal(0, 0.01, 400)
    growth, error = run.slope(1 + np.linspace(-0.05, 0.05, 400) + noise)
    assert abs(growth - 0.1) < 4 * error and 0.001 < error < 0.003
    growth, error = run.slope(1 + noise)
    assert abs(growth) < 4 * error
