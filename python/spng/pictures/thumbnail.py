# SPDX-License-Identifier: Apache-2.0
"""Small pictures of frames, for the cells of notebooks."""

from __future__ import annotations

import struct
import zlib
from html import escape
from typing import TYPE_CHECKING

import numpy as np
from wirecell_profile.html.packing import data_url

from . import colours, statistics
from .layers import ADC, Event, Source
from .plots import pooled

if TYPE_CHECKING:
    from ..frame import Frame

CHANNELS, TICKS = 320, 120  # pixels
SHADES = 255  # odd, so that 0 is white


def frame_html(frame: Frame) -> str:
    """Return facts and small pictures of a frame, as HTML."""
    layers = list(Source([frame]).layers_of(frame))
    return _html(f"Frame {frame.ident}", Event(frame.ident, layers), _facts(frame))


def event_html(event: Event, note: str) -> str:
    """Return small pictures of the layers of an event, as HTML, with a note."""
    return _html(f"Event {event.ident}", event, [note])


def _html(title: str, event: Event, facts: list[str]) -> str:
    figures = []
    for layer in event.layers:
        baselines = statistics.baselines(layer)
        samples = np.nan_to_num(np.asarray(layer.traces.dense(), np.float32) - baselines[:, None])
        order = np.argsort(layer.traces.channels, kind="stable")
        small = pooled(samples[order], CHANNELS, TICKS).T[::-1]
        picture = png(small / statistics.colour_range(layer, baselines), layer.role == ADC)
        name = layer.label or layer.traces.tag
        figures.append(
            f'<figure style="margin: 0"><img alt="{escape(name)}, channel by time" '
            f'src="{data_url("image/png", picture)}" style="border: 1px solid #c9d0d8">'
            f"<figcaption>{escape(name)} [{layer.unit}]</figcaption></figure>"
        )
    lines = "".join(f"<br>{escape(fact)}" for fact in facts)
    return (
        f"<div><b>{title}</b>{lines}"
        f'<div style="display: flex; flex-wrap: wrap; gap: 12px">{"".join(figures)}</div></div>'
    )


def _facts(frame: Frame) -> list[str]:
    facts = []
    for tag, traces in frame.traces.items():
        channels, ticks = traces.samples.shape
        times = traces.times_us
        span = f", {times[0]:g} to {times[-1] + traces.tick_ns / 1e3:g} µs" if ticks else ""
        facts.append(f"tag {tag!r}: {channels} channels, {ticks} ticks of {traces.tick_ns:g} ns{span}")
    facts += [f"mask {name!r}: {len(mask)} ranges" for name, mask in frame.masks.items()]
    return facts + [f"warning: {line}" for line in frame.warnings]


def png(values: np.ndarray, is_signed: bool) -> bytes:
    """Return values (row, column) from -1 to 1 as a picture."""
    index = np.rint((np.clip(values, -1, 1) + 1) / 2 * (SHADES - 1)).astype(np.uint8)
    stops = colours.ADC if is_signed else (*colours.NEGATIVE_CHARGE[:-1], *colours.CHARGE)
    points = np.linspace(-1, 1, len(stops))
    if not is_signed:
        points = np.concatenate(
            [np.linspace(-1, 0, len(colours.NEGATIVE_CHARGE)), np.linspace(0, 1, len(colours.CHARGE))[1:]]
        )
    rgb = np.array([[int(stop[at : at + 2], 16) for at in (1, 3, 5)] for stop in stops])
    shades = np.linspace(-1, 1, SHADES)
    palette = np.stack([np.interp(shades, points, part) for part in rgb.T], axis=1).round().astype(np.uint8)
    rows = np.pad(index, ((0, 0), (1, 0)))  # each row begins with its filter, none
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", index.shape[1], index.shape[0], 8, 3, 0, 0, 0)),
        (b"PLTE", palette.tobytes()),
        (b"IDAT", zlib.compress(rows.tobytes(), 9)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(*part) for part in parts)


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
