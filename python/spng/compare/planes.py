# SPDX-License-Identifier: Apache-2.0
"""Rows of frames by their planes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..channel_planes import OTHER


def group_rows(planes: Mapping[str, np.ndarray], channels: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Return the names of the planes that have a row, and for each row the index of its plane.

    Channels of no plane belong to OTHER.
    """
    index = np.full(len(channels), len(planes))
    for position, ids in enumerate(planes.values()):
        index[np.isin(channels, ids)] = position
    used = np.unique(index)
    names = [*planes, OTHER]
    return [names[position] for position in used], np.searchsorted(used, index)
