# SPDX-License-Identifier: Apache-2.0
"""The default event with few channels of a plane: charge and ROIs of these channels, over those in the whole event.

Print the table of docs/decisions/few-channels.md: python -m tests.endtoend.few_channels
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.support import wire_cell

COUNTS = (1, 8, 48, 100, 200, 300)
PLANES = {
    "U": (0, 800),
    "V": (800, 800),
    "W": (2080, 480),
}  # first channel, channels; W: of the face with charge
EDGE = 3  # channels at the ends of a piece, whose neighbours are absent
STRIPE, DISTANCES = 20, 8  # for the charge by distance from the edge of a piece


@dataclass(frozen=True)
class Case:
    """Channels of a plane that a frame has; all channels of the other planes are present too if `is_beside` is true."""

    plane: str
    count: int
    layout: str
    channels: np.ndarray
    is_beside: bool = True

    @property
    def inner(self) -> np.ndarray:
        """The channels that count: all but those at the edge of a piece that has other ones."""
        is_piece = self.layout == "one piece" and self.count > 2 * EDGE
        return self.channels[EDGE:-EDGE] if is_piece else self.channels


def cases(charge: np.ndarray, is_beside: bool = True) -> Iterator[Case]:
    """Yield the cases. charge: (channel) of the whole event; a piece is around the channel with the most."""
    for plane, (first, size) in PLANES.items():
        busiest = int(np.argmax(charge[first : first + size]))
        for count in COUNTS:
            start = first + min(max(busiest - count // 2, 0), size - count)
            yield Case(plane, count, "one piece", np.arange(start, start + count), is_beside)
            step = size // count
            scattered = first + (busiest % step + step * np.arange(count)) if count > 1 else [first + busiest]
            yield Case(plane, count, "scattered", np.asarray(scattered), is_beside)


def present(case: Case, channels: np.ndarray) -> np.ndarray:
    """Return which channels of the whole frame the frame of a case has (bool)."""
    first, size = PLANES[case.plane]
    others = (channels < first) | (channels >= first + size)
    return np.isin(channels, case.channels) | (others & case.is_beside)


def run(folder: Path, wanted: list[Case], **arguments: Any) -> list[np.ndarray]:
    """Return the signal (channel, tick) of the whole event, then of each case; all events are in one job."""
    samples, channels, start = wire_cell.default_adc()
    arrays = wire_cell.event(samples, channels, 0, start_ns=start)
    for ident, case in enumerate(wanted, 1):
        is_there = present(case, channels)
        arrays.update(wire_cell.event(samples[is_there], channels[is_there], ident, start_ns=start))
    wire_cell.write_arrays(folder / "adc.tar", arrays)
    output = wire_cell.job(folder, input="adc.tar", max_bad_share=1, check_input="false", **arguments)
    return [output[f"frame_signal_{ident}"] for ident in range(len(wanted) + 1)]


@dataclass(frozen=True)
class Ratios:
    """Charge and ROI samples of the inner channels of a case over those of the whole event."""

    charge: float
    regions: float
    share: float  # of the samples of these channels that are in ROIs


def ratios(case: Case, whole: np.ndarray, few: np.ndarray) -> Ratios:
    expected, seen = whole[case.inner], few[case.inner]
    return Ratios(
        float(seen.sum(dtype=np.float64) / expected.sum(dtype=np.float64)),
        float(np.count_nonzero(seen) / np.count_nonzero(expected)),
        float(np.count_nonzero(seen) / seen.size),
    )


def striped(plane: str) -> Case:
    """Pieces of STRIPE channels, with as many absent ones between them."""
    first, size = PLANES[plane]
    channels = np.arange(first, first + size)
    return Case(plane, size // 2, "striped", channels[(channels - first) // STRIPE % 2 == 1])


def edge_ratios(case: Case, whole: np.ndarray, few: np.ndarray) -> list[float]:
    """Charge over that in the whole event, by the distance of channels from the edge of their piece."""
    first, _ = PLANES[case.plane]
    offset = (case.channels - first) % STRIPE
    distance = np.minimum(offset, STRIPE - 1 - offset)
    charges = [
        [frame[case.channels[distance == each]].sum(dtype=np.float64) for frame in (few, whole)]
        for each in range(DISTANCES)
    ]
    return [float(few_charge / whole_charge) for few_charge, whole_charge in charges]


def main(arguments: list[str]) -> int:
    """Print the tables, with the arguments NAME=VALUE for the job."""
    given = dict(argument.split("=", 1) for argument in arguments)
    is_beside = given.pop("others", "true") == "true"
    with tempfile.TemporaryDirectory() as folder:
        [whole] = run(Path(folder), [], model="none", **given)
        wanted = list(cases(whole.sum(axis=1), is_beside))
        stripes = [striped(plane) for plane in PLANES]
        signals: list[np.ndarray] = []
        for first in range(0, len(wanted) + len(stripes), 6):  # so that one job holds few outputs
            part = [*wanted, *stripes][first : first + 6]
            signals += run(Path(folder), part, model="none", **given)[1:]
    print("| plane | channels | layout | charge | ROIs | share of samples in ROIs |")
    print("|---|---|---|---|---|---|")
    for case, few in zip(wanted, signals, strict=False):
        found = ratios(case, whole, few)
        print(
            f"| {case.plane} | {case.count} | {case.layout} | {found.charge:.3f} | {found.regions:.3f} | "
            f"{100 * found.share:.2f} % |"
        )
    print(f"\n| plane | {' | '.join(f'{distance}' for distance in range(DISTANCES))} |")
    print("|---" * (DISTANCES + 1) + "|")
    for case, few in zip(stripes, signals[len(wanted) :], strict=True):
        values = " | ".join(f"{value:.3f}" for value in edge_ratios(case, whole, few))
        print(f"| {case.plane} | {values} |")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
