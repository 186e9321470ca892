# SPDX-License-Identifier: Apache-2.0
"""The default event with few channels of a plane: charge and ROIs of these channels, over those in the whole event.

`./wcb physics --real FOLDER --only few` prints the table of docs/real-data.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from scripts.physics.real.few_channels import Case, chosen, present
from tests.support import wire_cell

VIEWS = {"U": np.arange(800), "V": np.arange(800, 1600), "W": np.arange(1600, 2560)}


def case(view: str, count: int, centre: int, kind: str, is_beside: bool = True) -> Case:
    """Return the case of `count` channels with the channel `centre` among them."""
    channels = VIEWS[view]
    return Case(view, kind, channels[chosen(count, len(channels), centre - channels[0], kind)], is_beside)


def of_case(each: Case, channels: np.ndarray) -> np.ndarray:
    """Return which channels of the whole frame the frame of a case has (bool)."""
    return present(each, VIEWS[each.view], channels)


def run(folder: Path, wanted: list[Case], **arguments: Any) -> list[np.ndarray]:
    """Return the signal (channel, tick) of the whole event, then of each case; all events are in one job."""
    samples, channels, start = wire_cell.default_adc()
    arrays = wire_cell.event(samples, channels, 0, start_ns=start)
    for ident, each in enumerate(wanted, 1):
        kept = of_case(each, channels)
        arrays.update(wire_cell.event(samples[kept], channels[kept], ident, start_ns=start))
    wire_cell.write_arrays(folder / "adc.tar", arrays)
    output = wire_cell.job(folder, input="adc.tar", max_bad_share=1, check_input="false", **arguments)
    return [output[f"frame_signal_{ident}"] for ident in range(len(wanted) + 1)]


@dataclass(frozen=True)
class Ratios:
    """Charge and ROI samples of the inner channels of a case over those of the whole event."""

    charge: float
    regions: float
    share: float  # of the samples of these channels that are in ROIs


def ratios(each: Case, whole: np.ndarray, few: np.ndarray) -> Ratios:
    """Compare the inner channels of a case with those of the whole event."""
    expected, seen = whole[each.inner], few[each.inner]
    return Ratios(
        float(seen.sum(dtype=np.float64) / expected.sum(dtype=np.float64)),
        float(np.count_nonzero(seen) / np.count_nonzero(expected)),
        float(np.count_nonzero(seen) / seen.size),
    )
