# SPDX-License-Identifier: Apache-2.0
"""Data of a page of frames: a description as JSON, and one block for each layer of each event. templates/frame_data.js reads them.

A block is the packed text (packing.py) of, all little-endian:

    baselines (row,) float32, which pictures subtract
    "int16":   low bytes, then high bytes, of (row, tick): zigzag code of the difference to the tick before
    "float32": bytes 0 of all (row, tick), then bytes 1, 2 and 3
    "runs":    row, begin and length (run,) int32; then the samples of the runs as float32, in bytes as above

Samples are exact. Bytes of equal significance are side by side because they pack better so.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from wirecell_profile.html.packing import packed

from ..frame import SparseSamples
from . import colours, statistics
from .layers import Event, Layer
from .planes import title


@dataclass(frozen=True)
class Payload:
    """The description, and the blocks by name."""

    about: dict
    blocks: dict[str, str]


def make_payload(events: list[Event], planes: dict[str, np.ndarray]) -> Payload:
    """Return the data of a page with the channels of these planes."""
    channels = np.concatenate(list(planes.values()))
    blocks: dict[str, str] = {}
    described = []
    for index, event in enumerate(events):
        layers = []
        line_colours = colours.line_colours([layer.role for layer in event.layers])
        for position, layer in enumerate(event.layers):
            name = f"block-{index}-{position}"
            about, blocks[name] = encode(layer, channels)
            layers.append(about | {"block": name, "colour": line_colours[position]})
        described.append(
            {
                "ident": event.ident,
                "layers": layers,
                "masks": {name: _chosen(mask, channels) for name, mask in event.masks.items()},
                "notes": event.notes,
                "table": statistics.table(event, planes),
                "channel": statistics.busy_channel(event, channels),
            }
        )
    palette = {
        name.lower(): getattr(colours, name)
        for name in ("ADC", "CHARGE", "NEGATIVE_CHARGE", "OVERLAY", "ROI", "MASKS")
    }
    named = [{"name": name, "title": title(name), "channels": ranges(part)} for name, part in planes.items()]
    return Payload({"planes": named, "events": described, "palette": palette}, blocks)


def encode(layer: Layer, channels: np.ndarray) -> tuple[dict, str]:
    """Return the description and the block of the rows of these channels."""
    traces = layer.traces
    rows = np.flatnonzero(np.isin(traces.channels, channels))
    samples = _rows_of(layer.samples, rows)
    baseline = statistics.baselines(layer)[rows]
    parts = [baseline.astype("<f4").tobytes()]
    if isinstance(samples, SparseSamples):
        form, values = "runs", samples.values
        begins, ends = samples.runs[:, 1], samples.runs[:, 2]
        parts += [column.astype("<i4").tobytes() for column in (samples.runs[:, 0], begins, ends - begins)]
        parts.append(_split_bytes(values.astype("<f4")))
    elif samples.dtype == np.int16:
        form, values = "int16", samples
        differences = np.diff(samples, axis=1, prepend=np.int16(0))  # modulo 2^16
        parts.append(_split_bytes(((differences << 1) ^ (differences >> 15)).astype("<i2")))
    else:
        form, values = "float32", samples
        parts.append(_split_bytes(samples.astype("<f4")))
    about = {
        "label": layer.label,
        "role": layer.role,
        "unit": layer.unit,
        "origin": " ".join(filter(None, (layer.file, f"tag {traces.tag}"))),
        "type": str(values.dtype),
        "form": form,
        "channels": ranges(traces.channels[rows]),
        "ticks": samples.shape[1],
        "runs": len(samples.runs) if isinstance(samples, SparseSamples) else 0,
        "start": (traces.start_ns + traces.first_tick * traces.tick_ns) / 1e3,
        "tick": traces.tick_ns / 1e3,
        "range": statistics.colour_range(layer, statistics.baselines(layer)),
        "negative": bool((values < 0).any()),
    }
    return about, packed(*parts)


def ranges(numbers: np.ndarray) -> list[list[int]]:
    """Return [first, count] of each range of consecutive numbers."""
    if not len(numbers):
        return []
    starts = np.concatenate([[0], np.flatnonzero(np.diff(numbers) != 1) + 1])
    counts = np.diff(np.append(starts, len(numbers)))
    return [[int(numbers[start]), int(count)] for start, count in zip(starts, counts)]


def _rows_of(samples: np.ndarray | SparseSamples, rows: np.ndarray) -> np.ndarray | SparseSamples:
    if not isinstance(samples, SparseSamples):
        return samples[rows]
    position = np.full(samples.shape[0], -1, np.int64)
    position[rows] = np.arange(len(rows))
    runs = samples.runs.copy()
    lengths = runs[:, 2] - runs[:, 1]
    runs[:, 0] = position[runs[:, 0]]
    is_kept = runs[:, 0] >= 0
    return SparseSamples(
        runs[is_kept], samples.values[np.repeat(is_kept, lengths)], (len(rows), samples.shape[1])
    )


def _split_bytes(values: np.ndarray) -> bytes:
    """Return bytes 0 of all values, then bytes 1, and so on."""
    return np.ascontiguousarray(values).reshape(-1, 1).view(np.uint8).T.tobytes()


def _chosen(mask: np.ndarray, channels: np.ndarray) -> list[list[float]]:
    return mask[np.isin(mask[:, 0], channels)].tolist()
