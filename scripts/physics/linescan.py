# SPDX-License-Identifier: Apache-2.0
"""Ideal lines at fixed angles to the pitch direction of a view: the channels of each line, and its figures.

The lines are those of data/osp-linescan.json: each event of a view has one line for each angle, in the plane of drift and
pitch direction on face 0, with centres 155 mm apart. The simulation chooses their order along the pitch direction; the
depositions that it writes give the positions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spng import metrics

from .wires import Anode

ANGLES = (0, 1, 3, 5, 10, 20, 30, 45, 60, 75, 80, 82, 84, 89)  # degrees; 90 would be along the drift
ANGLE_TOLERANCE = 0.3  # degrees
FACE = 0
SMEARED_WIRES = 4  # charge of a line reaches channels up to this many wires beyond its depositions
INNER_CHANNEL = 0.95  # least charge of an inner channel, in units of the median; excludes the ends of a line
HIT_CHANNEL_ELECTRONS = 1000.0
MARGIN_TICKS = 200  # charge and ROIs of a line are searched so far around its true charge in a channel
MARGIN_ELECTRONS = 1.0  # true charge of a tick that the line is in


@dataclass(frozen=True)
class LineFigures:
    """Figures of one line.

    bias                mean over inner channels of output / true charge - 1
    resolution          standard deviation of that ratio
    efficiency, purity  of the pixels of all channels of the line
    """

    bias: float
    resolution: float
    efficiency: float
    purity: float


class LinesMissing(Exception):
    """The depositions are not a complete line scan; the text names the missing lines."""


def line_channels(
    anode: Anode, view: int, lines: np.ndarray, points: np.ndarray, angles: tuple[int, ...] | None = None
) -> list[np.ndarray]:
    """Return the channels of the line at each of the angles (default ANGLES), in the order of the wires, without channels that another line
    reaches too (wrapped wires).

    @param lines   (deposition,) index of the line of each deposition
    @param points  (3, deposition) x, y, z [mm] before drift; they give the angle of each line
    @throws LinesMissing unless there is one line for each angle
    """
    angles = angles or ANGLES
    plane = anode.planes[FACE, view]
    wire = plane.wire_coordinate(points[2], points[1])
    reached: dict[int, np.ndarray] = {}
    for line in np.unique(lines):
        depth, own = points[0, lines == line], wire[lines == line]
        angle = np.degrees(np.arctan2(np.ptp(depth), np.ptp(own) * plane.pitch))
        nearest = min(angles, key=lambda known: abs(known - angle))
        if abs(nearest - angle) > ANGLE_TOLERANCE or nearest in reached:
            raise LinesMissing(
                f"line {line} of the line scan is at {angle:.2f} degrees; expected one line for each of {angles}"
            )
        first = max(round(own.min()) - SMEARED_WIRES, 0)
        last = min(round(own.max()) + SMEARED_WIRES, len(plane.channel) - 1)
        reached[nearest] = plane.channel[first : last + 1]
    if len(reached) != len(angles):
        raise LinesMissing(f"the line scan has lines at {sorted(reached)} degrees; expected {angles}")
    channels, times = np.unique(np.concatenate(list(reached.values())), return_counts=True)
    return [reached[angle][~np.isin(reached[angle], channels[times > 1])] for angle in angles]


def measure(signal: np.ndarray, truth: np.ndarray) -> LineFigures:
    """Measure one line. signal, truth (channel, tick) [electrons]. A figure without any channel or pixel is nan."""
    charge = truth.sum(axis=1, dtype=np.float64)
    if not charge.max(initial=0.0) > 0.0:
        return LineFigures(*[float("nan")] * 4)
    middle = np.median(charge[charge > 0.5 * charge.max()])
    ratios = []
    near = np.zeros(truth.shape, dtype=bool)
    for row in np.nonzero(charge > HIT_CHANNEL_ELECTRONS)[0]:
        hit = np.nonzero(truth[row] > MARGIN_ELECTRONS)[0]
        ticks = slice(max(hit[0] - MARGIN_TICKS, 0), hit[-1] + MARGIN_TICKS)
        near[row, ticks] = True
        if charge[row] > INNER_CHANNEL * middle:
            ratios.append(signal[row, ticks].sum(dtype=np.float64) / charge[row])
    rows = charge > HIT_CHANNEL_ELECTRONS
    counts = metrics.count(np.where(near[rows], signal[rows], 0), truth[rows])
    return LineFigures(
        float(np.mean(ratios)) - 1 if ratios else float("nan"),
        float(np.std(ratios)) if ratios else float("nan"),
        metrics.RATIOS["efficiency"](counts),
        metrics.RATIOS["purity"](counts),
    )
