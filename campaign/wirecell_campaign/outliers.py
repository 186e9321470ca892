# SPDX-License-Identifier: Apache-2.0
"""Outputs that are very different from those of most files."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from wirecell_profile.terminal import visible

FEWEST = 5  # files; of fewer ones none is an outlier
FACTOR = 3.0  # times the median, or a part of it
DEVIATIONS = (
    5.0  # median deviations from the median, of the logarithms: files that differ by nature are no outliers
)

Measure = Callable[[dict], float | None]


def per_event(record: dict, key: str) -> float | None:
    """Return a figure of the output's content for each event."""
    value = record.get("content", {}).get(key)
    return value / record["events"] if value is not None and record["events"] else None


def share_not_zero(record: dict) -> float | None:
    """Return the share of samples that are not 0 [%]."""
    content = record.get("content", {})
    return 100 * content["not_zero"] / content["samples"] if content.get("samples") else None


MEASURES: list[tuple[Measure, Callable[[float, float], str]]] = [
    (
        lambda record: record["products"][0]["size"] / max(record["events"], 1),
        lambda value, median: f"{value / median:.2g} times the bytes of an event",
    ),
    (
        share_not_zero,
        lambda value, median: f"{value:.3g} % of samples not 0 (median {median:.3g} %)",
    ),
    (
        lambda record: per_event(record, "charge"),
        lambda value, median: f"{value / median:.2g} times the charge of an event",
    ),
]


def find(records: dict[str, dict]) -> dict[str, list[str]]:
    """Return, by the name of the output, the figures that are far from their median over all files."""
    found: dict[str, list[str]] = {}
    for measure, text in MEASURES:
        values = {name: value for name, record in records.items() if (value := measure(record)) is not None}
        median = float(np.median(list(values.values()))) if len(values) >= FEWEST else 0.0
        if median <= 0:
            continue
        floor = median * 1e-6  # of the logarithm, for nothing and for a sum below 0
        distances = {name: abs(np.log(max(value, floor) / median)) for name, value in values.items()}
        limit = max(np.log(FACTOR), DEVIATIONS * float(np.median(list(distances.values()))))
        for name, distance in distances.items():
            if distance > limit:
                found.setdefault(name, []).append(text(values[name], median))
    return found


def as_line(outliers: dict[str, list[str]], shown: int = 5) -> str:
    """Return the outliers as one line."""
    parts = [f"{visible(name)}: {', '.join(figures)}" for name, figures in list(outliers.items())[:shown]]
    more = len(outliers) - shown
    return "; ".join(parts) + (f"; and {more} more" if more > 0 else "")
