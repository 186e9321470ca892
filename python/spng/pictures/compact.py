# SPDX-License-Identifier: Apache-2.0
"""Compact samples in memory and in pages: runs of samples that are not 0."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..frame import SparseSamples, runs_of

if TYPE_CHECKING:
    from ..frame import Samples

MAX_FILL = 0.5  # share of samples that are not 0, up to which runs are smaller than all samples


def compact(samples: Samples | SparseSamples) -> np.ndarray | SparseSamples:
    """Return int16 or float32 samples: runs if most samples are 0, else all."""
    if isinstance(samples, SparseSamples):
        return samples
    array = np.asarray(samples.cpu() if hasattr(samples, "cpu") else samples)
    if array.dtype != np.int16:
        bounds = np.iinfo(np.int16)
        fits = (
            array.dtype.kind in "iu"
            and array.size
            and bounds.min <= array.min()
            and array.max() <= bounds.max
        )
        array = array.astype(np.int16 if fits else np.float32, copy=False)
    is_used = array != 0
    if np.count_nonzero(is_used) > MAX_FILL * array.size:
        return array
    return SparseSamples(runs_of(is_used), array[is_used], (array.shape[0], array.shape[1]))
