# SPDX-License-Identifier: Apache-2.0
"""Simulate points of charge on SBND, ProtoDUNE-VD and ICARUS and process them: truth and output are on the strips nearest to
each point, on the face in front of which it lies.

Wires come from tests.reference.detector. The files of these detectors are only in the shared data; tests skip without them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from scripts.depositions import write_depositions
from tests.detector.test_detectors import described, shared_detector_files
from tests.reference import detector
from tests.support import wire_cell
from tests.support.synthetic import View

pytestmark = wire_cell.needs_program

ELECTRONS = {"sbnd": 150_000.0, "pdvd_bottom": 150_000.0, "icarus": 1_500_000.0}  # ICARUS has much noise
AROUND = 40  # ticks on both sides of a point
# Of the charge of a point, relative; noise is most of it on induction.
WITHIN = {0: 0.15, 1: 0.15, 2: 0.04}
# Detector, anode, drift distance [mm] by x, speed [mm/ns], lifetime [ns], and points (face, x, y, z) [mm]. On ICARUS the points
# are on both sides of z = 0, where V and W wires go on.
CASES = {
    "sbnd": (1, 1920.5, 1.563e-3, 35e6, [(1, 1500.0, -700.0, 1204.5), (1, 900.0, 1100.0, 3805.0)]),
    "pdvd_bottom": (
        0,
        -3234.5,
        1.568e-3,
        35e6,
        [(1, -2800.0, -2800.0, 402.0), (0, -2300.0, -900.0, 1003.0)],
    ),
    "icarus": (1, -717.0, 1.5756e-3, 3.5e6, [(0, -900.0, -700.0, -150.0), (1, -1100.0, 500.0, 100.0)]),
}


def icarus_views() -> tuple[View, ...]:
    """Return the views of anode 1: half of the horizontal wires have smaller z."""
    return (
        View("U0", 0, np.arange(13824, 14880), False),
        View("U1", 0, np.arange(14976, 16032), False),
        View("V", 1, np.arange(16192, 21792), False),
        View("W", 2, np.arange(21984, 27584), False),
    )


def wires_of(
    name: str, ident: int
) -> tuple[Path, tuple[View, ...], dict[tuple[int, int], detector.WirePlane]]:
    """Return the folder of the files, the views, and the planes by (face, plane)."""
    if name != "icarus":
        anode = described(name, ident)
        return anode.wires.parent, anode.views, anode.planes()
    data = shared_detector_files()
    if data is None:
        pytest.skip("the shared detector files are not here")
    wires = data / "icarus-wires-dualanode-v5.json.bz2"
    return data, icarus_views(), detector.joined_planes(wires, (110 + ident, 120 + ident))


@pytest.mark.parametrize("name", CASES)
def test_points_come_back_on_their_strips(name: str, tmp_path: Path) -> None:
    ident, response_x, speed, lifetime, points = CASES[name]
    data, views, planes = wires_of(name, ident)
    short = f"detname=(import 'detectors/{name}.jsonnet') {{ readout+: {{ nticks: 2400 }} }}"
    depositions = np.zeros((7, len(points)))
    depositions[1] = -ELECTRONS[name]
    depositions[2:5] = np.array(points)[:, 1:].T
    write_depositions(tmp_path / "points.npz", [depositions])
    wire_cell.job(
        tmp_path,
        "-P",
        data,
        "--tla-code",
        short,
        job_file=wire_cell.ROOT / "cfg" / "simulate.jsonnet",
        tpcid=ident,
        depos=tmp_path / "points.npz",
        process="signal.tar",
        truth="truth.tar",
        output="adc.tar",
        model="none",
    )
    truth, signal = (wire_cell.read_arrays(tmp_path / f"{product}.tar") for product in ("truth", "signal"))
    for face, x, y, z in points:
        drift_ns = abs(x - response_x) / speed
        expected = ELECTRONS[name] * np.exp(-drift_ns / lifetime)
        for view in views:
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
