# SPDX-License-Identifier: Apache-2.0
"""Figures of one event under one condition, and of all events together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from spng.metrics import Counts

from spng import metrics

from .. import linescan
from ..summary import figure
from ..wires import VIEWS

END_TICKS = 40
ALL, FIRST, LAST = "all", "first", "last"  # parts of a view
WARNING = re.compile(r"^\[[\d:.]+\] W \[ \S+ \] (.*)$", re.MULTILINE)
# Of pulses, not of noise, which other conditions change.
MISFIT = re.compile(r"\b(polarity|shaping|lobes?|pulses?|response)\b.*\bseen\b.*\bexpected\b", re.DOTALL)
SATURATED = re.compile(r"satur", re.IGNORECASE)


@dataclass(frozen=True)
class Measured:
    """One view of one event by one variant.

    parts   counts of the whole view, of its first and last ticks, or of each of its lines
    biases  of the inner channels of each line
    """

    variant: str
    view: int
    parts: dict[str, Counts]
    biases: dict[str, float]


def part_of_angle(angle: int) -> str:
    """Return the name of the part of a view with the line at an angle [degrees]."""
    return f"angle-{angle}"


def measure_view(
    variant: str, view: int, signal: np.ndarray, truth: np.ndarray, far: np.ndarray, with_ends: bool
) -> Measured:
    """Measure a view. signal, truth (channel, tick) [electrons]; far (channel, pixel), of metrics.far_pixels."""
    parts = {ALL: metrics.count(signal, truth, far)}
    if with_ends:
        for name, ticks in ((FIRST, slice(0, END_TICKS)), (LAST, slice(-END_TICKS, None))):
            parts[name] = metrics.count(signal[:, ticks], truth[:, ticks])
    return Measured(variant, view, parts, {})


def measure_lines(
    variant: str,
    view: int,
    signal: np.ndarray,
    truth: np.ndarray,
    rows: Sequence[np.ndarray],
    angles: Sequence[int],
) -> Measured:
    """Measure the lines of a view. rows: of the channels of each line; all ticks of these channels count."""
    names = [part_of_angle(angle) for angle in angles]
    return Measured(
        variant,
        view,
        {name: metrics.count(signal[own], truth[own]) for name, own in zip(names, rows, strict=True)},
        {name: linescan.measure(signal[own], truth[own]).bias for name, own in zip(names, rows, strict=True)},
    )


def _part(events: list[Measured], name: str) -> dict[str, Any]:
    counts = [event.parts[name] for event in events]
    found = {quantity: metrics.pooled(counts, ratio) for quantity, ratio in metrics.RATIOS.items()}
    if name == ALL:
        found["false"] = metrics.pooled(counts, metrics.false_share)
    if name in events[0].biases:
        found["bias"] = metrics.mean([event.biases[name] for event in events])
    return {quantity: figure(value) for quantity, value in found.items()}


def figures(measured: list[Measured]) -> dict[str, Any]:
    """Return variant -> view -> part -> quantity -> value and error, over all events."""
    found: dict[str, Any] = {}
    for event in measured:
        found.setdefault(event.variant, {}).setdefault(VIEWS[event.view], []).append(event)
    return {
        variant: {
            view: {name: _part(events, name) for name in events[0].parts} for view, events in views.items()
        }
        for variant, views in found.items()
    }


def warnings_of(errors: str) -> list[str]:
    """Return the warnings in the standard error of wire-cell, each once."""
    return list(dict.fromkeys(WARNING.findall(errors)))


def is_misfit(warnings: Sequence[str]) -> bool:
    """Return whether a warning, or the error of a job that rejects its input, gives seen and expected values of pulses."""
    return any(MISFIT.search(text) for text in warnings)


def is_saturation(warnings: Sequence[str]) -> bool:
    """Return whether a warning names saturated channels."""
    return any(SATURATED.search(text) for text in warnings)
