# SPDX-License-Identifier: Apache-2.0
"""Figures of merit of a network on held-out events, by sample, as defined in tests/reference/metrics.py."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from tests.reference.metrics import TRUE_PIXEL_ELECTRONS

from .dataset import EventSet
from .network import DNNROINet
from .simulation import VIEWS

BINS = 1000  # of the probability
MASK_THRESHOLD = 0.5  # DNNROI's


@dataclass(frozen=True)
class Counts:
    """Histograms of the probability in BINS equal steps, (view, bin): samples with true charge and without."""

    true: np.ndarray
    other: np.ndarray

    def above(self, threshold: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the numbers of true and other samples above a threshold, (view,)."""
        first = int(round(threshold * BINS))
        return self.true[:, first:].sum(axis=1), self.other[:, first:].sum(axis=1)


@dataclass(frozen=True)
class Merit:
    """Shares of samples of one view at one threshold.

    efficiency  true samples in an ROI / true samples
    purity      true samples in an ROI / samples in an ROI
    false_rate  other samples in an ROI / other samples
    """

    efficiency: float
    purity: float
    false_rate: float


def probabilities(network: DNNROINet, events: EventSet, view: int) -> np.ndarray:
    """Return the network's probabilities for one view of an event, (channel, sample)."""
    network.eval()
    device = next(network.parameters()).device
    with torch.no_grad():
        features = torch.from_numpy(events.features(view))[None].to(device)
        return torch.sigmoid(network(features))[0, 0].cpu().numpy()


def count(network: DNNROINet, events: EventSet) -> Counts:
    """Count samples by probability. A true sample has more than TRUE_PIXEL_ELECTRONS in one of its ticks."""
    counted = np.zeros((2, len(VIEWS), BINS), dtype=np.int64)
    for index in range(len(events.charge)):
        probability = probabilities(network, events, index)
        true = events.truth[index] > TRUE_PIXEL_ELECTRONS
        bins = np.minimum((probability * BINS).astype(np.int64), BINS - 1)
        for part, which in enumerate((true, ~true)):
            counted[part, index % len(VIEWS)] += np.bincount(bins[which], minlength=BINS)
    return Counts(counted[0], counted[1])


def merits(counts: Counts, threshold: float = MASK_THRESHOLD) -> dict[str, Merit]:
    """Return the merits of each view; a ratio with denominator zero is nan."""
    true, other = counts.above(threshold)
    all_true, all_other = counts.above(0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return {
            view: Merit(
                float(true[i] / all_true[i]),
                float(true[i] / (true[i] + other[i])),
                float(other[i] / all_other[i]),
            )
            for i, view in enumerate(VIEWS)
        }


def area_under_roc(counts: Counts) -> dict[str, float]:
    """Return by view the chance that a true sample has a higher probability than another sample."""
    areas = {}
    for i, view in enumerate(VIEWS):
        efficiency = np.cumsum(counts.true[i, ::-1]) / max(counts.true[i].sum(), 1)
        false_rate = np.cumsum(counts.other[i, ::-1]) / max(counts.other[i].sum(), 1)
        areas[view] = float(np.trapezoid(np.r_[0, efficiency], np.r_[0, false_rate]))
    return areas
