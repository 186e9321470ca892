# SPDX-License-Identifier: Apache-2.0
"""Numbers beside the pictures: charge and noise per plane and layer, ranges of the colours, a channel to begin with."""

from __future__ import annotations

import numpy as np

from ..frame import SparseSamples, Traces
from .layers import ADC, TRUTH, Event, Layer

Row = tuple[str, list[str]]  # name with unit, a cell for each plane and for all


def baselines(layer: Layer) -> np.ndarray:
    """Return the median of each row [ADC] (channel,) float32; zeros for charge."""
    samples = layer.samples
    if layer.role != ADC or isinstance(samples, SparseSamples):
        return np.zeros(samples.shape[0], np.float32)
    return np.median(np.asarray(samples), axis=1).astype(np.float32)


def sums(traces: Traces, channels: np.ndarray) -> float:
    """Return the sum of all samples of these channels."""
    return float(_row_sums(traces)[np.isin(traces.channels, channels)].sum())


def _row_sums(traces: Traces) -> np.ndarray:
    samples = traces.samples
    if not isinstance(samples, SparseSamples):
        return np.asarray(samples).sum(axis=1, dtype=np.float64)
    rows = np.repeat(samples.runs[:, 0], samples.runs[:, 2] - samples.runs[:, 1])
    return np.bincount(rows, samples.values, samples.shape[0])


def noise(layer: Layer) -> np.ndarray:
    """Return the noise of each row [ADC] (channel,): the RMS of the samples within three widths of the median.

    A width is half of the range that holds the middle 68 % of the samples; pulses are outside of three.
    """
    samples = np.asarray(layer.traces.dense()).astype(np.float32)
    low, middle, high = np.percentile(samples, (15.87, 50, 84.13), axis=1, keepdims=True)
    samples -= middle
    is_noise = np.abs(samples) <= 1.5 * (high - low)
    return np.sqrt(np.mean(samples**2, axis=1, where=is_noise))


def table(event: Event, planes: dict[str, np.ndarray]) -> list[Row]:
    """Return the rows of the table of an event: noise of ADC, charge, and charge relative to the truth."""
    every = [*planes.values(), np.concatenate(list(planes.values()))]
    charges = {
        layer.label: [sums(layer.traces, channels) for channels in every]
        for layer in event.layers
        if layer.role != ADC
    }
    truth = event.of_role(TRUTH)
    rows: list[Row] = []
    for layer in event.layers:
        if layer.role == ADC:
            values = noise(layer)
            parts = [values[np.isin(layer.traces.channels, channels)] for channels in every]
            cells = [f"{np.median(part):.2f}" if len(part) else "–" for part in parts]
            rows.append((f"{layer.label}: median noise [ADC counts]", cells))
            continue
        charge = charges[layer.label]
        rows.append(
            (f"{layer.label}: charge [million electrons]", [f"{value / 1e6:,.3f}" for value in charge])
        )
        if truth is not None and layer is not truth:
            pairs = zip(charge, charges[truth.label])
            cells = [f"{100 * value / true:.1f}" if true else "–" for value, true in pairs]
            rows.append((f"{layer.label} / {truth.label} [%]", cells))
    return rows


def colour_range(layer: Layer, baseline: np.ndarray) -> float:
    """Return the sample that gets the strongest colour: below the largest, so that ordinary tracks have colour too."""
    samples = layer.samples
    if isinstance(samples, SparseSamples):
        values = samples.values
    else:
        values = (np.asarray(samples)[:, ::4] - baseline[:, None]).ravel()
    values = values[np.isfinite(values)]
    if layer.role == ADC:
        return max(20.0, float(np.percentile(np.abs(values), 99.7))) if len(values) else 20.0
    values = values[values > 0]
    return float(np.percentile(values, 97)) if len(values) else 1.0


def busy_channel(event: Event, channels: np.ndarray) -> int:
    """Return a channel with much charge, of the truth or of another layer: a tenth of the channels with charge have more.

    Without a layer of charge, the amount is the difference of the largest and the smallest sample.
    """
    layers = [layer for layer in event.layers if layer.role != ADC]
    layer = event.of_role(TRUTH) or (layers[0] if layers else event.layers[0])
    amounts = (
        _row_sums(layer.traces) if layer.role != ADC else np.ptp(np.asarray(layer.traces.dense()), axis=1)
    )
    rows = np.flatnonzero(np.isin(layer.traces.channels, channels) & (amounts > 0))
    if not len(rows):
        return int(channels[0])
    order = rows[np.argsort(amounts[rows], kind="stable")]
    return int(layer.traces.channels[order[int(0.9 * len(order))]])
