# SPDX-License-Identifier: Apache-2.0
"""Deposition files of the Wire-Cell Toolkit: NumPy arrays in .npz."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np


def write_depositions(path: Path, events: Sequence[np.ndarray]) -> None:
    """Write depo_data_<i> (7, n) and depo_info_<i> (4, n) for each event.

    An event is (7, n): t [ns], q [electrons, negative], x, y, z [mm], and two widths.
    """
    arrays: dict[str, np.ndarray] = {}
    for ident, data in enumerate(events):
        info = np.zeros((4, data.shape[1]), dtype=np.int32)
        info[0] = np.arange(data.shape[1])
        arrays[f"depo_data_{ident}"], arrays[f"depo_info_{ident}"] = data, info
    np.savez(path, allow_pickle=False, **arrays)
