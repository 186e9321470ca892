"""Ideal lines at fixed angles to the pitch direction of a view: which channels belong to a line, and its figures.

The lines are those of ../shared/data/README.md, pdhd/osp-linescan.json: in one event of a view a line for each angle, in
the plane of the drift and of the pitch direction on face 0, centres 155 mm apart. Their order along the pitch direction
is the simulation's choice; the depositions that it writes say which line is where.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import metrics
from .wires import Anode

ANGLES = (0, 1, 3, 5, 10, 20, 30, 45, 60, 75, 80, 82, 84, 89)  # degrees; 90 would be along the drift
ANGLE_TOLERANCE = 0.3  # degrees
FACE = 0
SMEARED_WIRES = 4  # charge of a line reaches channels so far beyond the wires above which it was deposited
INNER_CHANNEL = 0.95  # of the median charge of the line's channels; the ends of a line are left out
HIT_CHANNEL_ELECTRONS = 1000.0
WINDOW_TICKS = 200  # charge and regions of a line are looked for so far around its true charge in a channel
WINDOW_ELECTRONS = 1.0


@dataclass(frozen=True)
class LineFigures:
    """Of one line: bias = mean over inner channels of output / true charge - 1; resolution = standard deviation of that
    ratio; efficiency and purity in pixels of all channels of the line.
    """

    bias: float
    resolution: float
    efficiency: float
    purity: float


class LinesMissing(Exception):
    """The depositions are not those of a line scan; the text says what is missing."""


def line_channels(anode: Anode, view: int, lines: np.ndarray, points: np.ndarray) -> list[np.ndarray]:
    """Channels that a line has for itself, in the order of its wires, for each of ANGLES.

    lines (deposition,) number of the line of each deposition; points (3, deposition) x, y, z [mm] before drift. Which
    line has which angle is read from the points. Channels that another line reaches too, as wrapped wires may, are left
    out. Raises LinesMissing when there is not one line for each angle.
    """
    plane = anode.planes[FACE, view]
    wire = plane.wire_coordinate(points[2], points[1])
    reached: dict[int, np.ndarray] = {}
    for line in np.unique(lines):
        depth, own = points[0, lines == line], wire[lines == line]
        angle = np.degrees(np.arctan2(np.ptp(depth), np.ptp(own) * plane.pitch))
        nearest = min(ANGLES, key=lambda known: abs(known - angle))
        if abs(nearest - angle) > ANGLE_TOLERANCE or nearest in reached:
            raise LinesMissing(
                f"line {line} of the line scan is at {angle:.2f} degrees; expected one line for each of {ANGLES}"
            )
        first = max(round(own.min()) - SMEARED_WIRES, 0)
        last = min(round(own.max()) + SMEARED_WIRES, len(plane.channel) - 1)
        reached[nearest] = plane.channel[first : last + 1]
    if len(reached) != len(ANGLES):
        raise LinesMissing(f"the line scan has lines at {sorted(reached)} degrees; expected {ANGLES}")
    numbers, times = np.unique(np.concatenate(list(reached.values())), return_counts=True)
    return [reached[angle][~np.isin(reached[angle], numbers[times > 1])] for angle in ANGLES]


def measure(signal: np.ndarray, truth: np.ndarray) -> LineFigures:
    """signal, truth (channel, tick) electrons: the channels of one line. Figures are nan where nothing counts."""
    charge = truth.sum(axis=1, dtype=np.float64)
    if not charge.max(initial=0.0) > 0.0:
        return LineFigures(*[float("nan")] * 4)
    middle = np.median(charge[charge > 0.5 * charge.max()])
    ratios = []
    near = np.zeros(truth.shape, dtype=bool)
    for row in np.nonzero(charge > HIT_CHANNEL_ELECTRONS)[0]:
        hit = np.nonzero(truth[row] > WINDOW_ELECTRONS)[0]
        window = slice(max(hit[0] - WINDOW_TICKS, 0), hit[-1] + WINDOW_TICKS)
        near[row, window] = True
        if charge[row] > INNER_CHANNEL * middle:
            ratios.append(signal[row, window].sum(dtype=np.float64) / charge[row])
    rows = charge > HIT_CHANNEL_ELECTRONS
    counts = metrics.count(np.where(near[rows], signal[rows], 0), truth[rows])
    return LineFigures(
        float(np.mean(ratios)) - 1 if ratios else float("nan"),
        float(np.std(ratios)) if ratios else float("nan"),
        metrics.RATIOS["efficiency"](counts),
        metrics.RATIOS["purity"](counts),
    )
