# SPDX-License-Identifier: Apache-2.0
"""precision=fast against exact on the first half of the default event; bars: 99.5 % of the ROI samples, 0.1 % of the charge."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support import wire_cell

pytestmark = wire_cell.needs_program

REGIONS_AGREE = 0.995
CHARGE_OFF = 0.001
VIEWS = {"U": slice(0, 800), "V": slice(800, 1600), "W": slice(1600, 2560)}


def has_bfloat16() -> bool:
    """Return whether the processor has instructions for bfloat16, as in the program."""
    return any(
        "avx512_bf16" in line.split()
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    )


@pytest.fixture(name="runs", scope="module")
def fixture_runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, wire_cell.Arrays]:
    """Output of the default job with both precisions."""
    folder = tmp_path_factory.mktemp("precision")
    samples, channels, start = wire_cell.default_adc()
    event = wire_cell.event(samples[:, : samples.shape[1] // 2], channels, start_ns=start)
    given = wire_cell.write_arrays(folder / "adc.npz", event)
    return {
        each: wire_cell.job(folder, input=given, output=f"{each}.npz", precision=each, tags="signal,roi")
        for each in ("exact", "fast")
    }


@pytest.mark.parametrize("view", VIEWS)
def test_regions_and_charge_agree(runs: dict[str, wire_cell.Arrays], view: str) -> None:
    exact, fast = (runs[each]["frame_roi_0"][VIEWS[view]] != 0 for each in ("exact", "fast"))
    assert exact.sum() > 1000
    assert (exact & fast).sum() >= REGIONS_AGREE * (exact | fast).sum()
    charges = {each: runs[each]["frame_signal_0"][VIEWS[view]].sum(dtype=np.float64) for each in runs}
    assert abs(charges["fast"] - charges["exact"]) <= CHARGE_OFF * charges["exact"]


def test_fast_is_another_arithmetic_where_the_processor_has_it(runs: dict[str, wire_cell.Arrays]) -> None:
    """Without instructions for bfloat16, fast gives the same bytes on a CPU."""
    same = all(np.array_equal(runs["exact"][name], runs["fast"][name]) for name in runs["exact"])
    assert same == (not has_bfloat16())


def test_collection_has_no_network(runs: dict[str, wire_cell.Arrays]) -> None:
    """The ROIs of collection come from a threshold and are equal in both."""
    np.testing.assert_array_equal(
        runs["exact"]["frame_signal_0"][VIEWS["W"]], runs["fast"]["frame_signal_0"][VIEWS["W"]]
    )
