# SPDX-License-Identifier: Apache-2.0
"""Noise of the events: the unit of the network's input (docs/dnnroi.md#noise)."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import levels
from .network import IMAGES

# Range of measured noise / training noise of the training events, and of the figures in docs/dnnroi.md.
TRIED = (0.5, 2.3)


def noise_of_channels(images: np.ndarray) -> np.ndarray:
    """Return the noise (image, channel) [electrons] of (image, channel, sample) as SPNGChannelRMS measures it."""
    return levels.robust_levels(images.astype(np.float32), levels.NOISE_CUT, levels.NOISE_STRIDE)[2][..., 0]


def view_noise(rms: np.ndarray, good: np.ndarray) -> np.ndarray:
    """Return the noise (view, image) of views as SPNGDNNROI measures it. rms: (view, image, channel); good: (view, channel)."""
    return np.array(
        [[levels.view_noise(image, good[view]) for image in images] for view, images in enumerate(rms)]
    )


def divisors(rms: np.ndarray, training: np.ndarray, good: np.ndarray) -> np.ndarray:
    """Return the divisors (image, channel) float32 of the images of one view. rms: (image, channel); training: (image,)."""
    found = [levels.divisors(each, unit, good)[1] for each, unit in zip(rms, training)]
    return np.stack(found).astype(np.float32)


def metadata(training_noise: np.ndarray) -> dict[str, Any]:
    """Return keys of a model file (spng/nodes/dnn/model.h). training_noise: (view, image) [electrons]."""
    return {
        "training_noise": {
            name: [round(float(value), 1) for value in training_noise[:, image]]
            for image, name in enumerate(IMAGES)
        },
        "noise_range": list(TRIED),
    }
