# SPDX-License-Identifier: Apache-2.0
"""The result of a study, stored as JSON (schema "spng-physics-1") and shown on the page, from the measurements."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from spng.metrics import Figure

from spng import metrics

from . import linescan
from .roc import THRESHOLDS, Roc
from .settings import PERFECT, Plan, Sample
from .study import Measured, Results
from .wires import VIEWS


def number(value: float) -> float | None:
    """Return None for nan, which JSON lacks."""
    return None if math.isnan(value) else float(value)


def figure(found: Figure) -> dict[str, float | None]:
    """Return value and statistical error."""
    return {"value": number(found.value), "error": number(found.error)}


def view_figures(events: list[Measured]) -> dict[str, Any]:
    """Return all figures of one view, variant and sample."""
    counts = [event.counts for event in events]
    ratios = np.concatenate([event.ratios for event in events])
    return {
        "events": len(events),
        **{name: figure(metrics.pooled(counts, ratio)) for name, ratio in metrics.RATIOS.items()},
        "resolution": figure(
            Figure(
                metrics.resolution(ratios),
                metrics.mean([metrics.resolution(event.ratios) for event in events]).error,
            )
        ),
        "median_channel": number(float(np.median(ratios))) if len(ratios) else None,
        "late_by_ticks": figure(metrics.mean([event.shift for event in events])),
        "regions_per_channel": figure(metrics.mean([event.runs / event.channels for event in events])),
        "charge_per_channel": figure(
            metrics.mean([event.counts.charge / event.channels for event in events])
        ),
    }


def line_figures(events: list[Measured]) -> list[dict[str, Any]]:
    """Return the mean over events and its error for each angle."""
    return [
        {
            "theta_xz_deg": angle,
            **{
                quantity: figure(metrics.mean([getattr(event.lines[index], quantity) for event in events]))
                for quantity in ("bias", "resolution", "efficiency", "purity")
            },
        }
        for index, angle in enumerate(linescan.ANGLES)
    ]


def roc_figures(rocs: list[Roc]) -> dict[str, list[float | None]]:
    """Return the curve of all events together."""
    total = sum(rocs[1:], rocs[0])
    return {name: [number(value) for value in values] for name, values in total.json().items()}


def sample_figures(sample: Sample, results: Results) -> dict[str, Any]:
    """Return variant -> view -> figures of one sample."""
    found: dict[str, Any] = {}
    for variant in sample.variants:
        found[variant.name] = {
            name: view_figures(results.of(sample.name, variant.name, view)) for view, name in enumerate(VIEWS)
        }
    return found


def merged_lines(plan: Plan, results: Results) -> dict[str, Any]:
    """Return variant -> view -> figures of each angle; perfect ROIs are one of the variants."""
    found: dict[str, Any] = {}
    for sample in plan.samples:
        if sample.kind == "lines":
            for name in (*(variant.name for variant in sample.variants), PERFECT.name):
                events = results.of(sample.name, name, sample.view)
                found.setdefault(name, {})[VIEWS[sample.view]] = line_figures(events)
    return found


def curves(plan: Plan, results: Results) -> dict[str, Any]:
    """Return sample -> variant -> view -> curve for all variants with a probability and samples with a truth."""
    found: dict[str, Any] = {}
    for sample in plan.samples:
        for variant in sample.variants:
            for view, name in enumerate(VIEWS):
                measured = results.of(sample.name, variant.name, view)
                rocs = [event.roc for event in measured if event.roc is not None]
                if rocs and sample.kind == "muons":
                    found.setdefault(sample.name, {}).setdefault(variant.name, {})[name] = roc_figures(rocs)
    return found


def samples_json(samples: Iterable[Sample]) -> list[dict[str, Any]]:
    """Return the description of the samples."""
    return [
        {
            "name": sample.name,
            "label": sample.label,
            "events": sample.events,
            "seeds": [sample.seed, sample.seed + sample.events - 1],
            "simulation": sample.arguments,
        }
        for sample in samples
    ]


def result_of(plan: Plan, results: Results, about: dict[str, Any]) -> dict[str, Any]:
    """Return the result without bars."""
    return {
        "schema": "spng-physics-1",
        **about,
        "model": plan.model,
        "main_variant": plan.main,
        "variants": {name: variant.label for name, variant in plan.variants.items()},
        "samples": samples_json(plan.samples),
        "figures": {
            sample.name: sample_figures(sample, results) for sample in plan.samples if sample.kind != "lines"
        },
        "lines": merged_lines(plan, results),
        "roc": curves(plan, results),
        "roc_thresholds": THRESHOLDS.tolist(),
        "program_seconds": results.seconds,
    }
