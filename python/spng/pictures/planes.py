# SPDX-License-Identifier: Apache-2.0
"""Choice of the planes and channels of a picture."""

from __future__ import annotations

import numpy as np

from ..errors import Error


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
