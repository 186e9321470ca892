# SPDX-License-Identifier: Apache-2.0
"""Closure: waveforms made of a synthetic frame of charge and of the charge of a real event of ProtoDUNE-HD, processed and compared."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import spng
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


def ratios(charge: spng.Frame, tag: str, anode: int = 0, **arguments: int) -> dict[str, tuple[float, float]]:
    """Return plane -> charge and efficiency of pixels above 1500 electrons, of the channels without a mask."""
    waveforms = spng.waveforms_from_charge(charge, "pdhd", anode, tag=tag, **arguments)
    # The charge is smeared, so pulses look wider than the response.
    with spng.Pipeline("pdhd", anode, "none", check_input=False) as pipeline:
        signal, planes = pipeline(waveforms)["signal"], pipeline.planes
    found = {}
    for plane, ids in planes.items():
        used = np.setdiff1d(ids, charge.masks["bad"][:, 0])
        counts = metrics.count(signal.rows(used), charge[tag].rows(used), electrons=1500.0)
        found[plane] = (metrics.RATIOS["charge"](counts), metrics.RATIOS["efficiency"](counts))
        assert counts.true_pixels > 100, plane
    return found


def test_synthetic_tracks() -> None:
    found = ratios(tracks(), "gauss0", seed=2)
    assert list(found) == ["U", "V", "W"]
    for plane, (charge, efficiency) in found.items():
        assert charge == pytest.approx(1, abs=0.02), plane
        assert efficiency > 0.99, plane


@pytest.mark.skipif(not REAL.exists(), reason="../shared/data/real is absent")
def test_charge_of_a_real_event() -> None:
    """ProtoDUNE-HD run 27409, event 40896, anode 1: 227, 203 and 220 million electrons on U, V and W."""
    found = ratios(next(spng.read_frames(REAL)), "gauss1", anode=1)
    for plane, low, high in (("U", 0.945, 1.03), ("V", 0.925, 1.03), ("W", 0.985, 1.02)):
        charge, efficiency = found[plane]
        assert low < charge < high, (plane, charge)
        assert efficiency > 0.995, (plane, efficiency)
