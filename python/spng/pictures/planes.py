# SPDX-License-Identifier: Apache-2.0
"""Planes of a frame: which channel belongs to which plane."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..errors import Error

# Split of an anode of ProtoDUNE-HD and -SP, the default for frames of as many consecutive channels.
DEFAULT = "U:800,V:800,W:960"
UNSPLIT = "all channels"

Planes = str | Mapping[str, np.ndarray] | None


def split(channels: np.ndarray, planes: Planes = None) -> dict[str, np.ndarray]:
    """Return the channels of each plane in ascending order.

    @param channels  (channel,) channel ids of the frame
    @param planes    "U:800,V:800,W:960": name and number of channels of each plane, in ascending order of channels; or the
                     channel ids by plane, of which those of the frame are taken; None: DEFAULT where it fits, else one
                     plane
    @throws Error(Usage) if the planes do not fit the channels
    """
    channels = np.unique(channels)
    if planes is None:
        is_default = len(channels) == 2560 and channels[-1] - channels[0] == 2559
        return _counted(channels, DEFAULT) if is_default else {UNSPLIT: channels}
    if isinstance(planes, str):
        return _counted(channels, planes)
    parts = {name: np.intersect1d(channels, wanted) for name, wanted in planes.items()}
    rest = np.setdiff1d(channels, np.concatenate(list(parts.values()) or [channels[:0]]))
    if len(rest) == len(channels):
        raise _unfit(channels, f"planes {', '.join(planes)}, with other channels")
    parts["other channels"] = rest
    return {name: part for name, part in parts.items() if len(part)}


def _counted(channels: np.ndarray, text: str) -> dict[str, np.ndarray]:
    """Split by the counts of a text."""
    counts: dict[str, int] = {}
    for item in text.split(","):
        name, _, count = item.partition(":")
        if not name or not count.isdecimal() or not int(count) or name in counts:
            raise Error(
                "Usage",
                "the planes cannot be read",
                seen=repr(text),
                expected=f"NAME:COUNT,... as in {DEFAULT}",
            )
        counts[name] = int(count)
    if sum(counts.values()) != len(channels):
        raise _unfit(channels, f"{text}, which is {sum(counts.values())} channels")
    ends = np.cumsum(list(counts.values()))
    return dict(zip(counts, np.split(channels, ends[:-1])))


def _unfit(channels: np.ndarray, seen: str) -> Error:
    return Error(
        "Usage",
        "the planes do not fit the frame",
        seen=seen,
        expected=f"planes of its {len(channels)} channels, {channels[0]} to {channels[-1]}",
    )


def choose(
    planes: dict[str, np.ndarray], names: list[str] | None = None, channels: tuple[int, int] | None = None
) -> dict[str, np.ndarray]:
    """Return the planes of these names, with the channels from the first to the last only.

    @throws Error(Usage) if a name is unknown or nothing is left
    """
    unknown = [name for name in names or [] if name not in planes]
    if unknown:
        raise Error("Usage", f"there is no plane {unknown[0]!r}", expected=", ".join(planes))
    chosen = {name: planes[name] for name in names or planes}
    if channels:
        first, last = channels
        chosen = {name: part[(part >= first) & (part <= last)] for name, part in chosen.items()}
    chosen = {name: part for name, part in chosen.items() if len(part)}
    if not chosen:
        known = ", ".join(f"{name} {part[0]} to {part[-1]}" for name, part in planes.items())
        raise Error("Usage", "no channel is left", seen=f"channels {channels}", expected=known)
    return chosen


def title(name: str) -> str:
    """Return the title of a plane: "U plane"; names of several words stand alone."""
    return name if " " in name else f"{name} plane"
