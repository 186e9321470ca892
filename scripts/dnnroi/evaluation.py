# SPDX-License-Identifier: Apache-2.0
"""Figures of merit of a network on held-out events, by sample, as defined in spng.metrics."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from spng.metrics import TRUE_PIXEL_ELECTRONS

from .dataset import EventSet
from .simulation import VIEWS

BINS = 10_000  # of the probability
RELIABILITY_BINS = 20
MASK_THRESHOLD = 0.5  # DNNROI's if the file has none


@dataclass(frozen=True)
class Counts:
    """Histograms of the probability in BINS equal steps, (view, bin).

    true         samples with true charge
    other        samples without
    target       samples of the target ROIs
    probability  sum of the probabilities
    """

    true: np.ndarray
    other: np.ndarray
    target: np.ndarray
    probability: np.ndarray

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


@dataclass(frozen=True)
class Reliability:
    """Predicted and true probability of one view in RELIABILITY_BINS equal steps of the probability; nan without samples.

    predicted  mean output of the network, (bin,)
    found      share of the samples that are in the target, (bin,)
    samples    (bin,)
    """

    predicted: np.ndarray
    found: np.ndarray
    samples: np.ndarray

    def error(self, bins: slice = slice(None)) -> float:
        """Return the expected calibration error: mean of |predicted - found| over the samples of these bins."""
        samples = self.samples[bins]
        difference = np.abs(self.predicted - self.found)[bins]
        return float(np.nansum(samples * difference) / max(samples.sum(), 1))


def probabilities(model: torch.nn.Module, events: EventSet, view: int) -> np.ndarray:
    """Return the output of a model file or of export.Probability for one view of an event, (channel, sample) float32."""
    with torch.no_grad():
        return model.eval()(torch.from_numpy(events.features(view))[None])[0, 0].numpy()


def count(model: torch.nn.Module, events: EventSet) -> Counts:
    """Count samples by probability. A true sample has more than TRUE_PIXEL_ELECTRONS in one of its ticks."""
    counted = np.zeros((4, len(VIEWS), BINS))
    for index in range(len(events.charge)):
        probability = probabilities(model, events, index)
        has_charge = events.truth[index] > TRUE_PIXEL_ELECTRONS
        bins = np.minimum((probability * BINS).astype(np.int64), BINS - 1).ravel()
        for part, weight in enumerate((has_charge, ~has_charge, events.target[index], probability)):
            counted[part, index % len(VIEWS)] += np.bincount(bins, weight.ravel(), minlength=BINS)
    true, other, target = counted[:3].astype(np.int64)
    return Counts(true, other, target, counted[3])


def reliability(counts: Counts) -> dict[str, Reliability]:
    """Return the reliability of each view."""

    def coarse(histogram: np.ndarray) -> np.ndarray:
        return histogram.reshape(len(VIEWS), RELIABILITY_BINS, -1).sum(axis=-1)

    samples = coarse(counts.true + counts.other)
    with np.errstate(invalid="ignore", divide="ignore"):
        predicted, found = coarse(counts.probability) / samples, coarse(counts.target) / samples
    return {view: Reliability(predicted[i], found[i], samples[i]) for i, view in enumerate(VIEWS)}


def calibration_errors(counts: Counts) -> dict[str, dict[str, float]]:
    """Return by view the expected calibration error of all samples, and of the uncertain ones: without the first and last bin."""
    return {
        view: {"all": each.error(), "uncertain": each.error(slice(1, -1))}
        for view, each in reliability(counts).items()
    }


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
