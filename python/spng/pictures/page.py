# SPDX-License-Identifier: Apache-2.0
"""The page of frames: planes side by side at full resolution, waveforms, differences. Self-contained HTML."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from wirecell_profile.html.render import render

from ..conversion import numpy_array
from ..errors import input_error
from ..channel_planes import planes_of
from .layers import Layer
from .payload import encode_samples, row_order

CHARGE_PERCENTILE = 97  # limit of the colours, so that ordinary tracks have colour too
ADC_PERCENTILE = 99.7
MIN_ADC_LIMIT = 20.0


def frames_page(
    layers: Sequence[Layer], planes: Mapping[str, np.ndarray] | str = "", title: str = "Frames"
) -> str:
    """Return the page.

    planes  channel ids by name, or their form as in planes_of()

    Events of several layers belong together if they have the same position and ident, or else the same position.
    Raise spng.Error if the layers have no channel in common with the planes.
    """
    channels = np.unique(np.concatenate([each[1].channels for layer in layers for each in layer.events]))
    named = planes_of(channels, planes) if isinstance(planes, str) else planes
    named = {name: np.intersect1d(ids, channels) for name, ids in named.items()}
    named = {name: ids for name, ids in named.items() if len(ids)}
    if not named:
        raise input_error(
            "no channel of the frames is in the planes",
            seen=f"channels {channels.min()} to {channels.max()}",
            expected="channels of the planes",
            hint="name the planes: --planes U:800,V:800,W:960, or the detector",
        )
    count = max(len(layer.events) for layer in layers)
    events = [_event(layers, index, named) for index in range(count)]
    document = {
        "planes": [{"name": name, "first": int(ids[0]), "last": int(ids[-1])} for name, ids in named.items()],
        "layers": [{"label": layer.label, "kind": layer.kind} for layer in layers],
        "events": events,
    }
    return render(
        "frames.html",
        Path(__file__).parent / "templates",
        title=title,
        subtitle=_subtitle(layers, document),
        data=json.dumps(document).replace("</", "<\\/"),
        layers=layers,
        count=count,
    )


def _subtitle(layers: Sequence[Layer], document: Mapping[str, Any]) -> str:
    events = len(document["events"])
    planes = ", ".join(f"{each['name']} {each['first']} to {each['last']}" for each in document["planes"])
    layer_names = ", ".join(layer.label for layer in layers)
    return f"{events} event{'s' if events != 1 else ''} · {layer_names} · channels {planes}"


def _event(layers: Sequence[Layer], index: int, planes: Mapping[str, np.ndarray]) -> dict[str, Any]:
    contents: list[dict[str, Any] | None] = []
    masks: dict[str, list[list[int]]] = {}
    notes: dict[str, str] = {}
    ident = None
    for layer in layers:
        if index >= len(layer.events):
            contents.append(None)
            continue
        own_ident, traces, own_masks, own_notes = layer.events[index]
        ident = own_ident if ident is None else ident
        samples = numpy_array(traces.dense())
        if samples.dtype not in (np.int16, np.float32):
            samples = samples.astype(np.float32)
        baseline = np.median(samples, axis=1) if layer.kind == "adc" else np.zeros(len(samples))
        parts = []
        for ids in planes.values():
            rows, channels = row_order(traces, ids)
            part = samples[rows]
            parts.append(
                {
                    "channels": channels.tolist(),
                    "baseline": baseline[rows].tolist() if layer.kind == "adc" else None,
                    "limit": _limit(part, baseline[rows], layer.kind),
                    "sum": float(part.sum(dtype=np.float64)) if layer.kind == "charge" else None,
                    **(encode_samples(part) if len(rows) else {"form": "none"}),
                }
            )
        contents.append(
            {
                "ident": own_ident,
                "start_ns": traces.start_ns + traces.first_tick * traces.tick_ns,
                "tick_ns": traces.tick_ns,
                "ticks": int(samples.shape[1]),
                "planes": parts,
            }
        )
        for name, ranges in own_masks.items():
            masks.setdefault(name, np.asarray(ranges).reshape(-1, 3).tolist())
        notes |= {f"{layer.label}: {key}": text for key, text in own_notes.items()}
    return {"ident": ident, "layers": contents, "masks": masks, "notes": notes}


def _limit(samples: np.ndarray, baseline: np.ndarray, kind: str) -> float:
    """Return the sample at which the colours end."""
    if kind == "mask" or not samples.size:
        return 1.0
    if kind == "adc":
        sizes = np.abs(samples - baseline[:, None].astype(np.float32))
        return max(MIN_ADC_LIMIT, float(np.percentile(sizes, ADC_PERCENTILE)))
    positive = samples[samples > 0]
    return float(np.percentile(positive, CHARGE_PERCENTILE)) if positive.size else 1.0
