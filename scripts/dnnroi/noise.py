# SPDX-License-Identifier: Apache-2.0
"""Noise of the training events, stored in the model file so that the input of noisier data can be scaled to it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.reference import network, roi

from .dataset import EventSet
from .simulation import VIEWS

# Range of measured noise / training noise for which docs/dnnroi.md has figures.
TRIED = (0.7, 2.1)


def view_noise(charge: np.ndarray) -> float:
    """Return the noise of an ROI image (channel, sample) [electrons] as SPNGChannelRMS and SPNGDNNROI measure it."""
    levels = roi.robust_levels(charge.astype(np.float64), network.NOISE_CUT, network.NOISE_STRIDE)
    return network.view_noise(levels[2][:, 0])


def metadata(events: EventSet) -> dict[str, Any]:
    """Return keys of a model file (spng/nodes/dnn/model.h): the median over the events of the noise of U and V."""
    noise = [view_noise(charge) for charge in events.charge]
    by_view = [float(np.median(noise[view :: len(VIEWS)])) for view in range(len(VIEWS))]
    return {"training_noise": [round(value, 1) for value in by_view], "noise_range": list(TRIED)}
