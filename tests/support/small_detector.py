# SPDX-License-Identifier: Apache-2.0
"""A detector of 154 channels with ProtoDUNE-HD's responses and constants, so that long readouts are
cheap.

One face of vertical W wires and of U and V wires at 35.7 degrees on either side, 192 mm by 200 mm, nothing wrapped.
"""

from __future__ import annotations

import bz2
import itertools
import json
import math
from pathlib import Path

import numpy as np

from tests.support import wire_cell
from tests.support.synthetic import Detector, View, cold

WIDTH_MM, HEIGHT_MM = 192.0, 200.0  # along z and y
DRIFT_X_MM = (-3522.19, -3527.11, -3532.02)  # of the planes U, V, W: those of ProtoDUNE-HD's anode 0
ANGLES = (math.radians(35.7), math.radians(-35.7), 0.0)  # of the wires from the vertical towards z
PITCHES_MM = (4.669, 4.669, 4.79)
SHORTEST_MM = 8.0

DESCRIPTION = """// A face of 154 channels, with everything else as in ProtoDUNE-HD.
(import 'detectors/pdhd.jsonnet') {
    name: 'small',
    anodes: [0],
    wires: '%(wires)s',
    rc_tails: { constant: 1.1e6, layers: 1 },
    channel_response: [{ channels: [20, 75, 130], gain: $.electronics.gain * 4.7 / 14, shaping: 1000 }],
    chirping: { max_rms: 0.9 },
    negative_pulses: { parts: 1 },
    groups(anode):: [
        {
            name: 'induction', kind: 'induction', cyclic: false, channels: %(induction)d, board_channels: %(induction)d,
            views: [{ name: 'U', plane: 0, faces: [0], order: [1] }, { name: 'V', plane: 1, faces: [0], order: [1] }],
        },
        {
            name: 'collection', kind: 'collection', cyclic: false, channels: %(collection)d, board_channels: %(collection)d,
            views: [{ name: 'W', plane: 2, faces: [0], order: [1] }],
        },
    ],
    model(anode):: 'none',
}
"""


def wires_of_plane(plane: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the ends (z, y) of the wires inside the face, by rising pitch."""
    along = np.array([math.sin(ANGLES[plane]), math.cos(ANGLES[plane])])
    across = np.array([along[1], -along[0]])
    corners = np.array([[z, y] for z in (0, WIDTH_MM) for y in (0, HEIGHT_MM)]) @ across
    wires = []
    for position in np.arange(corners.min() + PITCHES_MM[plane] / 2, corners.max(), PITCHES_MM[plane]):
        low, high = -np.inf, np.inf
        for axis, size in enumerate((WIDTH_MM, HEIGHT_MM)):
            if abs(along[axis]) > 1e-9:
                reach = np.sort((np.array([0.0, size]) - position * across[axis]) / along[axis])
                low, high = max(low, reach[0]), min(high, reach[1])
        if high - low > SHORTEST_MM:
            wires.append((position * across + low * along, position * across + high * along))
    return wires


def wire_schema(anodes: int = 1) -> dict:
    """Return anodes of one face each, side by side along z, as a wire schema document; channels are counted across
    U, V and W of one anode after the other.
    """
    planes: list[dict] = []
    wires: list[dict] = []
    points: list[dict] = []
    for anode, plane in itertools.product(range(anodes), range(3)):
        members = []
        for tail, head in wires_of_plane(plane):
            for z, y in (tail, head):
                z_mm = float(z) + 2 * WIDTH_MM * anode
                points.append({"Point": {"x": DRIFT_X_MM[plane], "y": float(y), "z": z_mm}})
            members.append(len(wires))
            wires.append(
                {
                    "Wire": {
                        "ident": len(wires),
                        "channel": len(wires),
                        "segment": 0,
                        "tail": len(points) - 2,
                        "head": len(points) - 1,
                    }
                }
            )
        planes.append({"Plane": {"ident": plane, "wires": members}})
    return {
        "Store": {
            "anodes": [{"Anode": {"ident": anode, "faces": [anode]}} for anode in range(anodes)],
            "faces": [
                {"Face": {"ident": 0, "planes": [3 * anode, 3 * anode + 1, 3 * anode + 2]}}
                for anode in range(anodes)
            ],
            "planes": planes,
            "wires": wires,
            "points": points,
        }
    }


def channels_of_planes() -> list[np.ndarray]:
    """Return the channel ids of U, V and W."""
    counts = [len(wires_of_plane(plane)) for plane in range(3)]
    ends = np.cumsum([0, *counts])
    return [np.arange(ends[plane], ends[plane + 1]) for plane in range(3)]


def write_description(folder: Path) -> list[str]:
    """Write the detector's files into `folder`; return the flags with which jobs find it."""
    u, _, w = channels_of_planes()
    wires = folder / "small-wires.json.bz2"
    wires.write_bytes(bz2.compress(json.dumps(wire_schema()).encode()))
    names = {"wires": wires, "induction": len(u), "collection": len(w)}
    (folder / "small.jsonnet").write_text(DESCRIPTION % names, encoding="utf-8")
    return ["-P", str(folder), "--tla-code", "detname=import 'small.jsonnet'"]


def small_detector(folder: Path) -> Detector:
    """Return the detector for frames of known charge; call write_description(folder) first."""
    views = tuple(
        View(name, plane, channels, False)
        for plane, (name, channels) in enumerate(zip("UVW", channels_of_planes(), strict=True))
    )
    return Detector(
        "small",
        0,
        folder / "small-wires.json.bz2",
        wire_cell.description("dune-garfield-1d565"),
        views,
        1.4 / 2**14,
        14,
        cold(14.0),
        100 / 1.565,
    )
