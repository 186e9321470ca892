# SPDX-License-Identifier: Apache-2.0
"""Simulate points of charge on SBND and ProtoDUNE-VD and process them: truth and output are on the strips nearest to each point,
on the face in front of which it lies.

Wires come from tests.reference.detector. The files of these detectors are only in the shared data; tests skip without them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from scripts.depositions import write_depositions
from tests.detector.test_detectors import described, search_flags
from tests.support import wire_cell

pytestmark = wire_cell.needs_program

ELECTRONS = 150_000.0
LIFETIME_NS = 35e6
AROUND = 40  # ticks on both sides of a point
# Of the charge of a point, relative; noise is most of it on induction.
WITHIN = {0: 0.15, 1: 0.15, 2: 0.04}
# Detector, anode, drift distance [mm] by x, speed [mm/ns], and points (face, x, y, z) [mm].
CASES = {
    "sbnd": (1, 1920.5, 1.563e-3, [(1, 1500.0, -700.0, 1204.5), (1, 900.0, 1100.0, 3805.0)]),
    "pdvd_bottom": (0, -2941.5, 1.6e-3, [(0, -2500.0, -2800.0, 402.0), (1, -2000.0, -900.0, 1003.0)]),
}


@pytest.mark.parametrize("name", CASES)
def test_points_come_back_on_their_strips(name: str, tmp_path: Path) -> None:
    ident, response_x, speed, points = CASES[name]
    anode = described(name, ident)
    depositions = np.zeros((7, len(points)))
    depositions[1] = -ELECTRONS
    depositions[2:5] = np.array(points)[:, 1:].T
    write_depositions(tmp_path / "points.npz", [depositions])
    wire_cell.job(
        tmp_path,
        *search_flags(anode),
        job_file=wire_cell.ROOT / "cfg" / "simulate.jsonnet",
        detname=name,
        tpcid=ident,
        depos=tmp_path / "points.npz",
        process="signal.tar",
        truth="truth.tar",
        output="adc.tar",
        model="none",
    )
    truth, signal = (wire_cell.read_arrays(tmp_path / f"{product}.tar") for product in ("truth", "signal"))
    planes = anode.planes()
    for face, x, y, z in points:
        drift_ns = abs(x - response_x) / speed
        expected = ELECTRONS * np.exp(-drift_ns / LIFETIME_NS)
        for view in anode.views:
            wires = planes[face, view.plane]
            channel = wires.channel[round(float(wires.wire_coordinate(np.array([z, y]))))]
            if channel not in view.channels:
                continue  # collection strips of the other face
            row = int(np.flatnonzero(view.channels == channel)[0])
            true, seen = (
                arrays[f"frame_{tag}_0"][np.searchsorted(arrays[f"channels_{tag}_0"], view.channels)]
                for arrays, tag in ((truth, "truth"), (signal, "signal"))
            )
            tick = int(true[row].argmax())
            area = np.s_[row - 3 : row + 4, tick - AROUND : tick + AROUND]
            # A point may be half-way between two strips.
            assert abs(np.unravel_index(true[area].argmax(), true[area].shape)[0] - 3) <= 1, (name, view.name)
            assert true[area].sum() == pytest.approx(expected, rel=0.01), (name, view.name)
            assert seen[area].sum() == pytest.approx(expected, rel=WITHIN[view.plane]), (name, view.name)
            peak = np.unravel_index(seen[area].argmax(), seen[area].shape)
            assert abs(peak[0] - 3) <= 1 and abs(peak[1] - AROUND) <= 2, (name, view.name, peak)
