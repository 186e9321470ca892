"""The noise of the events of a training, which a model file gives so that noisier data can be brought to it."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.reference import network, roi

from .dataset import EventSet
from .simulation import VIEWS

# Ratios of measured noise to the training's that docs/dnnroi.md has figures for.
TRIED = (0.7, 2.1)


def view_noise(charge: np.ndarray) -> float:
    """Noise of a charge image (channel, sample) [electrons] as SPNGChannelRMS and SPNGDNNROI measure it."""
    levels = roi.robust_levels(charge.astype(np.float64), network.NOISE_CUT, network.NOISE_STRIDE)
    return network.view_noise(levels[2][:, 0])


def metadata(events: EventSet) -> dict[str, Any]:
    """Keys for a model file (spng/nodes/dnn/model.h): median over the events of each view's noise, planes U, V."""
    noise = [view_noise(charge) for charge in events.charge]
    by_view = [float(np.median(noise[view :: len(VIEWS)])) for view in range(len(VIEWS))]
    return {"training_noise": [round(value, 1) for value in by_view], "noise_range": list(TRIED)}
