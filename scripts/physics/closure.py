# SPDX-License-Identifier: Apache-2.0
"""Closure on a frame of charge, of a real event for example: simulate its waveforms, process them, and compare the charge that is
found with the charge that was given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import spng
from spng import metrics

LEVELS = (500.0, 1500.0)  # electrons in a tick of a true pixel

Closure = dict[str, dict[float, metrics.Counts]]


def closure(
    charge: spng.Frame,
    tag: str,
    detector: str = "pdhd",
    anode: int = 0,
    models: Sequence[str] = ("none", "default"),
    **arguments: Any,
) -> dict[str, Closure]:
    """Return model -> plane -> level -> counts against the given charge (metrics.RATIOS makes ratios of them).

    charge     traces (channel, tick) [electrons]. Weak charge that another program calls signal is part of this truth
    tag        of the charge
    models     argument `model` of cfg/pipeline.jsonnet
    arguments  of cfg/from_charge.jsonnet: noise, seed, noise_level

    Channels and ticks in the mask "bad" of the frame do not count.
    """
    waveforms = spng.waveforms_from_charge(charge, detector, anode, tag=tag, **arguments)
    given = replace(charge[tag], samples=without_masked(charge[tag], charge.masks))
    found: dict[str, Closure] = {}
    for model in models:
        # The charge is smeared, so pulses look wider than the response.
        with spng.Pipeline(detector, anode, model, check_input=False) as pipeline:
            signal, planes = pipeline(waveforms)["signal"], pipeline.planes
        found[model] = {plane: compared(signal.rows(ids), given.rows(ids)) for plane, ids in planes.items()}
    return found


def without_masked(traces: spng.Traces, masks: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the samples (channel, tick), 0 in the ranges of the mask "bad"."""
    result = np.array(traces.dense())
    for channel, *ticks in masks.get("bad", ()):
        begin, end = (max(0, tick - traces.first_tick) for tick in ticks)
        result[traces.channels == channel, begin:end] = 0
    return result


def compared(signal: np.ndarray, truth: np.ndarray) -> dict[float, metrics.Counts]:
    """Return level -> counts of a plane, both (channel, tick) [electrons]."""
    return {level: metrics.count(signal, truth, electrons=level) for level in LEVELS}
