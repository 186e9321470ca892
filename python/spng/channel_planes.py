# SPDX-License-Identifier: Apache-2.0
"""Wire planes of channels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .arguments import checked, seen
from .conversion import integers_of
from .errors import Error

PDHD = "U:800,V:800,W:960"  # an anode of ProtoDUNE-HD or -SP
ALL, OTHER = "all channels", "other channels"

Planes = str | Mapping[str, np.ndarray] | None


def planes_of(channels: np.ndarray, planes: Planes = None) -> dict[str, np.ndarray]:
    """Return the channel ids of each plane among these channels, ascending.

    planes  channel ids by plane, such as those of planes_of_detector(); or names and counts, "U:800,V:800,W:960": if the counts
            are those of the channels, in their ascending order, else the first 800 ids of each anode are U, and so on, and those
            of anode n begin at n times the sum; or None: ids that fill whole anodes of ProtoDUNE-HD are divided so, and others
            are one plane, ALL

    Raise spng.Error for another form, or if no channel is in the given planes.
    """
    channels = np.unique(channels)
    if planes is None or planes == "":
        total = sum(_parsed(PDHD).values())
        return _counted(channels, PDHD) if _fill_anodes(channels, total) else {ALL: channels}
    if isinstance(planes, str):
        return _counted(channels, planes)
    if any(integers_of(wanted) is None for wanted in planes.values()):
        raise Error(
            "Usage", "the planes cannot be read", seen=seen(planes), expected="lists of channel ids by name"
        )
    parts = {name: np.intersect1d(channels, wanted) for name, wanted in planes.items()}
    rest = np.setdiff1d(channels, np.concatenate(list(parts.values()) or [channels[:0]]))
    if len(channels) and len(rest) == len(channels):
        raise Error(
            "Usage",
            "the planes do not fit the frame",
            seen=f"planes {', '.join(planes)}, with other channels",
            expected=f"planes of its {len(channels)} channels, {channels[0]} to {channels[-1]}",
        )
    return {name: part for name, part in (parts | {OTHER: rest}).items() if len(part)}


def _counted(channels: np.ndarray, text: str) -> dict[str, np.ndarray]:
    counts = _parsed(text)
    total = sum(counts.values())
    ends = np.cumsum(list(counts.values()))
    positions = np.arange(total) if len(channels) == total else channels % total
    index = np.searchsorted(ends, positions, side="right")
    return {plane: channels[index == position] for position, plane in enumerate(counts)}


def _fill_anodes(channels: np.ndarray, total: int) -> bool:
    """Tell whether each anode that has a channel has all of them."""
    _, counts = np.unique(channels // total, return_counts=True)
    return len(channels) > 0 and bool((counts == total).all())


def _parsed(text: str) -> dict[str, int]:
    counts: dict[str, int] = {}
    for word in text.split(","):
        plane, _, count = word.partition(":")
        if not plane or plane in counts or not count.isdecimal() or int(count) < 1:
            raise Error(
                "Usage",
                "the planes cannot be read",
                seen=repr(text),
                expected=f"names and counts such as {PDHD}",
            )
        counts[plane] = int(count)
    return counts


@checked
def planes_of_detector(detector: str, anode: int | Sequence[int] = 0) -> dict[str, np.ndarray]:
    """Return the channel ids of each wire plane of a detector's anodes, ascending, as Pipeline.planes.

    Raise spng.Error for an unknown detector or anode.
    """
    from .pipeline import Pipeline

    with Pipeline(detector, anode, model="none", device="cpu") as pipeline:
        return pipeline.planes
