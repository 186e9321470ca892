# SPDX-License-Identifier: Apache-2.0
"""Wire planes of channels."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..errors import Error

OTHER, ALL = "other", "all"
PDHD = "U:800,V:800,W:960"
Planes = Mapping[str, np.ndarray]


def planes_of(channels: np.ndarray, text: str = "") -> Planes:
    """Return plane -> channel ids, among these channels.

    text: "U:800,V:800,W:960": the first 800 ids of each anode are U, and so on; the ids of anode n begin at n times
    the sum. Without it, ids that fill whole anodes of ProtoDUNE-HD are divided so, and others are one plane, "all".
    Raise Error for another form.
    """
    counts = _parsed(text or PDHD)
    total = sum(counts.values())
    channels = np.unique(channels)
    if not text and not _fill_anodes(channels, total):
        return {ALL: channels}
    ends = np.cumsum(list(counts.values()))
    index = np.searchsorted(ends, channels % total, side="right")
    return {plane: channels[index == position] for position, plane in enumerate(counts)}


def _fill_anodes(channels: np.ndarray, total: int) -> bool:
    """Tell whether each anode that has a channel has all of them."""
    _, counts = np.unique(channels // total, return_counts=True)
    return len(channels) > 0 and bool((counts == total).all())


def _parsed(text: str) -> dict[str, int]:
    counts = {}
    for word in text.split(","):
        plane, _, count = word.partition(":")
        if not plane or plane in counts or not count.isdecimal() or int(count) < 1:
            raise Error(
                "Usage", "the planes cannot be read", "--planes", text, f"names and counts such as {PDHD}"
            )
        counts[plane] = int(count)
    return counts


def group_rows(planes: Planes, channels: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Return the names of the planes that have a row, and for each row the index of its plane.

    Channels of no plane belong to "other".
    """
    index = np.full(len(channels), len(planes))
    for position, ids in enumerate(planes.values()):
        index[np.isin(channels, ids)] = position
    used = np.unique(index)
    names = [*planes, OTHER]
    return [names[position] for position in used], np.searchsorted(used, index)
