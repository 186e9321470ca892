# SPDX-License-Identifier: Apache-2.0
"""Make frames of anode 0 of ProtoDUNE-HD with other noise, with NumPy."""

from __future__ import annotations

import numpy as np

from tests.reference import simulate
from tests.support import wire_cell

NOISE = wire_cell.DATA / "protodunehd-noise-spectra-14mVfC-v1.json.bz2"
PLANES = {"U": slice(0, 800), "V": slice(800, 1600), "W": slice(1600, 2560)}
HOT_SHARE, HOT_NOISE = 0.03, 3.0
EMPTY_BASELINE = 4000.0  # ADC


def noise(rng: np.random.Generator) -> np.ndarray:
    """Return nominal noise with the measured spectra: (channel, tick) [ADC counts]."""
    return np.concatenate(
        [
            simulate.noise(rng, NOISE, plane, rows.stop - rows.start)
            for plane, rows in enumerate(PLANES.values())
        ]
    )


def noisier(samples: np.ndarray, factor: float, extra: np.ndarray) -> np.ndarray:
    """Return a frame with `factor` times its nominal noise, by adding other nominal noise. Same shapes."""
    return samples + np.sqrt(factor**2 - 1) * extra


def with_hot_channels(samples: np.ndarray, extra: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a frame with nominal noise in which HOT_SHARE of each plane's channels have HOT_NOISE times as
    much.
    """
    out = samples.astype(np.float64)
    for rows in PLANES.values():
        count = rows.stop - rows.start
        hot = rows.start + rng.permutation(count)[: int(HOT_SHARE * count)]
        out[hot] = noisier(out[hot], HOT_NOISE, extra[hot])
    return out


def counts(samples: np.ndarray) -> np.ndarray:
    """Round to counts as a digitiser does."""
    return np.clip(np.floor(samples + 0.5), 0, 2**14 - 1).astype(np.int16)
