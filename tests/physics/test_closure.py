# SPDX-License-Identifier: Apache-2.0
"""scripts/physics/closure.py on a synthetic frame of charge, and on the charge of a real event of ProtoDUNE-HD."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import spng
from scripts.physics import closure
from spng import metrics
from tests.support import shared, synthetic, wire_cell

pytestmark = wire_cell.needs_program

TICKS = 1001
ELECTRONS_PER_MM = 15_000.0  # so that noise hardly changes the charge of the few channels
FOLDER = shared.shared_folder()
REAL = (FOLDER or Path("absent")) / "data" / "real" / "protodunehd-sp-frames-anode1.tar.bz2"


def tracks() -> spng.Frame:
    """Return the charge of two tracks on face 0 of ProtoDUNE-HD's anode 0, with the busiest channel masked."""
    anode = synthetic.protodune_hd(0)
    ends = np.array([[[200.0, 3000.0], [900.0, 3600.0]], [[400.0, 2500.0], [1500.0, 2900.0]]])
    points = synthetic.joined(
        [
            synthetic.straight_track(anode.planes(), 0, each, when, ELECTRONS_PER_MM)
            for each, when in zip(ends, [(250, 700), (750, 450)], strict=True)
        ]
    )
    charge = np.zeros((len(anode.channels), TICKS), np.float32)
    for view in anode.views:
        charge[np.searchsorted(anode.channels, view.channels)] = synthetic.charge_image(
            view, points, TICKS, 3.0
        )
    traces = spng.Traces("gauss0", charge, anode.channels.astype(np.int32))
    dead = traces.channels[np.argmax(charge.sum(axis=1))]
    return spng.Frame({"gauss0": traces}, ident=3, masks={"bad": np.array([[dead, 0, TICKS]])})


def ratios(counts: metrics.Counts) -> tuple[float, float, float]:
    return tuple(metrics.RATIOS[name](counts) for name in ("charge", "efficiency", "purity"))


def test_synthetic_tracks() -> None:
    found = closure.closure(tracks(), "gauss0", models=["none"], seed=2)["none"]
    assert list(found) == ["U", "V", "W"]
    for plane, levels in found.items():
        charge, efficiency, _ = ratios(levels[1500.0])
        assert charge == pytest.approx(1, abs=0.02), plane
        assert efficiency > 0.99, plane
        assert levels[500.0].true_pixels > levels[1500.0].true_pixels > 100


def test_masked_channels_do_not_count() -> None:
    frame = tracks()
    rest = closure.without_masked(frame["gauss0"], frame.masks)
    given, dead = frame["gauss0"].samples, frame.masks["bad"][0, 0]
    assert given[dead].any() and not rest[dead].any()
    assert np.array_equal(np.delete(rest, dead, 0), np.delete(given, dead, 0))
    later = replace(frame["gauss0"], first_tick=1000)  # ticks of masks count from the start
    assert np.array_equal(
        closure.without_masked(later, {"bad": np.array([[dead, 1000, 1000 + TICKS]])}), rest
    )


@pytest.mark.skipif(not REAL.exists(), reason="../shared/data/real is absent")
def test_charge_of_a_real_event() -> None:
    """ProtoDUNE-HD run 27409, event 40896, anode 1: 227, 203 and 220 million electrons on U, V and W."""
    frame = next(spng.read_frames(REAL))
    found = closure.closure(frame, "gauss1", anode=1, models=["none"])["none"]
    for plane, low, high in (("U", 0.93, 1.03), ("V", 0.91, 1.03), ("W", 0.98, 1.02)):
        charge, efficiency, _ = ratios(found[plane][1500.0])
        assert low < charge < high, (plane, charge)
        assert efficiency > 0.995, (plane, efficiency)
