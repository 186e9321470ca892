# SPDX-License-Identifier: Apache-2.0
"""The input of the network that finds ROIs, in units of the noise of its training."""

from __future__ import annotations

import numpy as np

from . import roi

NOISE_CUT, NOISE_STRIDE = 3.0, 4  # of the RMS: the filter set's `noise`
HOT_CHANNEL = 1.8  # of SPNGDNNROI
ELECTRONS = 4000.0  # one unit of the charge image


def view_noise(rms: np.ndarray, good: np.ndarray | None = None) -> float:
    """Return the lower median of the RMS (channel,) of the good channels; nan if there is none."""
    counted = rms if good is None else rms[good]
    return float(roi.order_statistic(counted, 0.5)[0]) if counted.size else float("nan")


def divisors(
    rms: np.ndarray, training: float, good: np.ndarray | None = None, hot: float = HOT_CHANNEL
) -> tuple[float, np.ndarray]:
    """Return the noise of a view over that of the training, and the divisor of each channel (channel,).

    The divisor is the view's ratio, at least 1; for a hot channel, with more than `hot` times that, its own
    ratio.
    """
    ratio = view_noise(rms, good) / training
    own, of_view = rms / training, np.fmax(ratio, 1.0)
    return ratio, np.where(own > hot * of_view, own, of_view)


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
            rms = roi.robust_levels(image, NOISE_CUT, NOISE_STRIDE)[2][:, 0]
            scaled = scaled / divisors(rms, training[name], good)[1][:, None]
        charge.append(scaled)
    return np.stack([*charge, *(mask.astype(np.float64) for mask in coincidence)])
