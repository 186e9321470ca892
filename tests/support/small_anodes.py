# SPDX-License-Identifier: Apache-2.0
"""Three anodes of the small detector in one description, so that jobs over several anodes are cheap.

As in pdhd_badAPA1, V of anode 0 collects: that anode has another response, other groups and other filters.
"""

from __future__ import annotations

import bz2
import json
from pathlib import Path

import numpy as np

from tests.support import synthetic
from tests.support.small_detector import channels_of_planes, wire_schema
from tests.support.small_site import NOISE_COUNTS, Site

ANODES = (0, 1, 2)
CHANNELS = sum(map(len, channels_of_planes()))  # of an anode

DESCRIPTION = """// Three anodes with a face of %(channels)d channels each, with everything else as in pdhd_badAPA1.
(import 'detectors/pdhd_badAPA1.jsonnet') {
    name: 'small',
    anodes: [0, 1, 2],
    wires: '%(wires)s',
    groups(anode)::
        local u = { name: 'U', plane: 0, faces: [0], order: [1] };
        local v = { name: 'V', plane: 1, faces: [0], order: [1] };
        local w = { name: 'W', plane: 2, faces: [0], order: [1] };
        local crossed = { cyclic: false, channels: %(induction)d, board_channels: 19 };
        local vertical = { cyclic: false, channels: %(collection)d, board_channels: 20 };
        if anode == 0 then [
            crossed { name: 'induction', kind: 'induction', views: [u] },
            vertical { name: 'weak', kind: 'induction', settings: 'weak', use_model: false, views: [w] },
            crossed { name: 'collection', kind: 'collection', views: [v] },
        ] else [
            crossed { name: 'induction', kind: 'induction', views: [u, v] },
            vertical { name: 'collection', kind: 'collection', views: [w] },
        ],
    model(anode):: 'none',
}
"""


def write_description(folder: Path) -> list[str]:
    """Write the detector's files into `folder`; return the flags with which jobs find it."""
    u, _, w = channels_of_planes()
    wires = folder / "small-anodes-wires.json.bz2"
    wires.write_bytes(bz2.compress(json.dumps(wire_schema(len(ANODES))).encode()))
    names = {"channels": CHANNELS, "wires": wires, "induction": len(u), "collection": len(w)}
    (folder / "small-anodes.jsonnet").write_text(DESCRIPTION % names, encoding="utf-8")
    return ["-P", str(folder), "--tla-code", "detname=import 'small-anodes.jsonnet'"]


def readout(folder: Path, frames: int, ticks: int) -> np.ndarray:
    """Return ADC counts (channel, tick) of one anode as if V were an induction plane, with a track of its own in
    each of `frames` times `ticks`.
    """
    site = Site.at(folder)
    rng = np.random.default_rng(8)
    planes = site.anode.planes()
    tracks = [
        synthetic.straight_track(
            planes, 0, rng.uniform([20.0, 20.0], [170.0, 180.0], (2, 2)), (start, start + 100), 20_000.0
        )
        for start in ticks * np.arange(frames) + ticks // 3 - site.anode.delay_ticks
    ]
    return site.samples(synthetic.joined(tracks), frames * ticks, NOISE_COUNTS)
