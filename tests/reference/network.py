# SPDX-License-Identifier: Apache-2.0
"""The input of the network that finds regions, in units of the noise that it was trained on."""

from __future__ import annotations

import numpy as np

from . import roi

NOISE_CUT, NOISE_STRIDE = 3.0, 4  # of the RMS: the filter set's `noise`
HOT_CHANNEL = 1.8  # of SPNGDNNROI
ELECTRONS = 4000.0  # one unit of the charge image


def view_noise(rms: np.ndarray, good: np.ndarray | None = None) -> float:
    """Lower median of the RMS (channel,) of the good channels; nan without any."""
    counted = rms if good is None else rms[good]
    return float(roi.order_statistic(counted, 0.5)[0]) if counted.size else float("nan")


def divisors(
    rms: np.ndarray, training: float, good: np.ndarray | None = None, hot: float = HOT_CHANNEL
) -> tuple[float, np.ndarray]:
    """Noise of a view over that of the training, and what each channel (channel,) is divided by.

    All channels by the view's ratio, never less than 1; a hot one, with more than `hot` times that, by its
    own.
    """
    ratio = view_noise(rms, good) / training
    own, of_view = rms / training, np.fmax(ratio, 1.0)
    return ratio, np.where(own > hot * of_view, own, of_view)


def features(
    loose: np.ndarray, coincidence: list[np.ndarray], training: float | None, good: np.ndarray | None = None
) -> np.ndarray:
    """Charge image (channel, sample) [electrons], MP2 and MP3 -> (feature, channel, sample) of the network.

    training: noise of the plane [electrons]; None: the image is not divided by its noise.
    """
    charge = loose / ELECTRONS
    if training is not None:
        rms = roi.robust_levels(loose, NOISE_CUT, NOISE_STRIDE)[2][:, 0]
        charge = charge / divisors(rms, training, good)[1][:, None]
    return np.stack([charge, *(mask.astype(np.float64) for mask in coincidence)])
