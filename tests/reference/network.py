# SPDX-License-Identifier: Apache-2.0
"""The input of the network that finds ROIs, in units of the noise of its training."""

from __future__ import annotations

import numpy as np

from scripts.dnnroi.levels import NOISE_CUT, NOISE_STRIDE, divisors, robust_levels

ELECTRONS = 4000.0  # one unit of the charge image


def features(
    images: dict[str, np.ndarray],
    coincidence: list[np.ndarray],
    training: dict[str, float] | None,
    good: np.ndarray | None = None,
) -> np.ndarray:
    """Return the input (feature, channel, sample) of the network from charge images (channel, sample) [electrons] by
    name, MP2 and MP3.

    training: noise of the plane by image [electrons]; None: the images are not divided by their noise.
    """
    charge = []
    for name, image in images.items():
        scaled = image / ELECTRONS
        if training is not None:
            rms = robust_levels(image, NOISE_CUT, NOISE_STRIDE)[2][:, 0]
            scaled = scaled / divisors(rms, training[name], good)[1][:, None]
        charge.append(scaled)
    return np.stack([*charge, *(mask.astype(np.float64) for mask in coincidence)])
