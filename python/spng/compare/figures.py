# SPDX-License-Identifier: Apache-2.0
"""Figures of the page of a comparison, as SVG."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np
from wirecell_profile.html.packing import data_url
from wirecell_profile.html.svg import add, drawing, line, text
from wirecell_profile.units import ticks

from .result import Picture, Waveform
from .samples import DECADES, SampleFigures
from .text import percent

A_COLOUR, B_COLOUR, BOTH_COLOUR, GRID = "#1F4E9C", "#E8710A", "#9aa5b1", "#e3e7ec"
PLANE_COLOURS = ("#1F4E9C", "#E8710A", "#2E8B57", "#8E44AD")
DIFFERENCE_COLOUR = "#6b2737"
WIDTH = 620
LEFT, RIGHT = 92.0, WIDTH - 24.0  # ends of the tick axis of waveforms


def overlap_bars(totals: dict[str, SampleFigures]) -> Element:
    """Draw for each plane the shares of the union that are only in A, in both, only in B."""
    row, left, right = 46, 62.0, WIDTH - 12.0
    svg = drawing(WIDTH, row * len(totals) + 26, "samples in A, in both and in B")
    for index, (plane, figures) in enumerate(totals.items()):
        y, at = row * index + 18, left
        parts = (
            ("only in A", figures.only_a, A_COLOUR),
            ("in both", figures.both, BOTH_COLOUR),
            ("only in B", figures.only_b, B_COLOUR),
        )
        text(svg, left - 10, y + 15, plane, text_anchor="end", font_weight=600)
        words = ", ".join(f"{name} {count:,}" for name, count, _ in parts)
        text(svg, left, y - 4, words, class_="soft", font_size="11px")
        for name, count, colour in parts:
            width = (right - left) * count / max(1, figures.union)
            title = f"{plane}, {name}: {count:,} samples, {percent(count / max(1, figures.union))}"
            add(svg, "rect", title=title, x=at, y=y, width=width, height=20, fill=colour)
            at += width
    entries = (("only in A", A_COLOUR), ("in both", BOTH_COLOUR), ("only in B", B_COLOUR))
    _legend(svg, left, row * len(totals) + 20, entries)
    return svg


def histogram(figures: SampleFigures) -> Element:
    """Draw the samples of the union by their relative difference; the scale of counts is logarithmic."""
    left, right, top, bottom = 92.0, WIDTH - 12.0, 20.0, 190.0
    counts = figures.histogram.tolist()
    names = ["equal", *(f"≤ {_power(edge)}" for edge in DECADES[:-1]), "≤ 1"]
    if figures.not_finite_a or figures.not_finite_b:
        names[-1] = "≤ 1, NaN"
    svg = drawing(WIDTH, bottom + 42, "samples by relative difference")
    decades = max(1, math.ceil(math.log10(max(counts) + 1)))
    for power in range(decades + 1):
        y = bottom - (bottom - top) * power / decades
        line(svg, (left, right), (y, y), stroke=GRID)
        text(svg, left - 6, y + 4, f"{10**power:,}", text_anchor="end", class_="soft")
    step = (right - left) / len(counts)
    for index, (name, count) in enumerate(zip(names, counts)):
        x = left + step * (index + 0.5)
        height = (bottom - top) * (math.log10(count) + 0.12) / (decades + 0.12) if count else 0.0
        colour = BOTH_COLOUR if index == 0 else B_COLOUR
        title = f"{name}: {count:,} samples"
        add(
            svg,
            "rect",
            title=title,
            x=x - step * 0.4,
            width=step * 0.8,
            y=bottom - height,
            height=height,
            fill=colour,
        )
        if count:
            text(svg, x, bottom - height - 4, f"{count:,}", text_anchor="middle", font_size="11px")
        text(svg, x, bottom + 16, name, text_anchor="middle", class_="soft")
    words = "relative difference |A - B| / larger of |A| and |B|"
    text(svg, (left + right) / 2, bottom + 36, words, text_anchor="middle", class_="soft")
    return svg


def _power(edge: float) -> str:
    digits = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    return "10" + str(round(math.log10(edge))).translate(digits)


def charge_ratios(events: Sequence[tuple[str, dict[str, SampleFigures]]]) -> Element | None:
    """Draw the charge of B / that of A for each event and plane; None if no event has charge."""
    found = [
        (index, plane, figures.charge_ratio)
        for index, (_, planes) in enumerate(events)
        for plane, figures in planes.items()
        if figures.charge_ratio is not None
    ]
    if not found:
        return None
    left, right, top, bottom = 86.0, WIDTH - 10.0, 12.0, 200.0
    reach = max(1e-9, *(abs(ratio - 1) for _, _, ratio in found)) * 1.15
    svg = drawing(WIDTH, bottom + 58, "charge of B / charge of A")
    digits = max(0, 1 - math.floor(math.log10(reach)))

    def y_of(ratio: float) -> float:
        return (top + bottom) / 2 - (ratio - 1) / reach * (bottom - top) / 2

    for offset in ticks(reach, 2):
        for ratio in {1 + offset, 1 - offset}:
            line(svg, (left, right), (y_of(ratio), y_of(ratio)), stroke=GRID if offset else "#1c2430")
            text(svg, left - 6, y_of(ratio) + 4, f"{ratio:.{digits}f}", text_anchor="end", class_="soft")
    planes = list(dict.fromkeys(plane for _, plane, _ in found))
    step = (right - left) / len(events)
    for index, plane, ratio in found:
        position = planes.index(plane)
        x = left + step * (index + 0.5) + min(9.0, step / 5) * (position - (len(planes) - 1) / 2)
        title = f"event {events[index][0]}, {plane}: {ratio:.7f}"
        add(svg, "circle", title=title, cx=x, cy=y_of(ratio), r=4, fill=PLANE_COLOURS[position % 4])
    every = math.ceil(len(events) / 14)
    for index, (name, _) in enumerate(events):
        if index % every == 0:
            text(svg, left + step * (index + 0.5), bottom + 16, name, text_anchor="middle", class_="soft")
    text(svg, (left + right) / 2, bottom + 34, "event", text_anchor="middle", class_="soft")
    _legend(svg, left, bottom + 50, [(plane, PLANE_COLOURS[i % 4]) for i, plane in enumerate(planes)])
    return svg


def difference_map(picture: Picture) -> Element:
    """Draw where samples differ: channels upwards, ticks to the right, darker for more samples."""
    left, right, top, bottom = 62.0, WIDTH - 24.0, 8.0, 330.0
    svg = drawing(WIDTH, bottom + 40, "channels and ticks of the samples that differ")
    size: dict[str, Any] = {"x": left, "y": top, "width": right - left, "height": bottom - top}
    href = data_url("image/png", _png(picture.counts))
    add(svg, "image", href=href, preserveAspectRatio="none", image_rendering="pixelated", **size)
    add(svg, "rect", fill="none", stroke="#5f6b7a", **size)
    for channel, part in _marks(*picture.channels):
        y = bottom - (bottom - top) * part + 4
        text(svg, left - 6, y, channel, text_anchor="end", class_="soft")
    _tick_axis(svg, (left, right), bottom, picture.ticks)
    middle = (top + bottom) / 2
    turn = f"rotate(-90 12 {middle})"
    text(svg, 12, middle, "channel", text_anchor="middle", class_="soft", transform=turn)
    return svg


def _marks(low: float, high: float, wanted: int = 5) -> Iterator[tuple[str, float]]:
    """Yield round values between the ends and their positions, from 0 to 1."""
    step = [*ticks(high - low, wanted), 1.0][1]
    for index in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1):
        yield f"{index * step:g}", (index * step - low) / ((high - low) or 1)


def _tick_axis(svg: Element, x: tuple[float, float], y: float, ends: tuple[int, int]) -> None:
    """Label the axis of the ticks below y."""
    for tick, part in _marks(*ends):
        text(svg, x[0] + (x[1] - x[0]) * part, y + 16, tick, text_anchor="middle", class_="soft")
    text(svg, (x[0] + x[1]) / 2, y + 35, "tick", text_anchor="middle", class_="soft")


def _png(counts: np.ndarray) -> bytes:
    """Return the map as a picture: white without difference, then orange to dark red; the last row is below."""
    from PIL import Image

    depth = np.log1p(counts) / max(np.log1p(counts.max()), 1e-9)
    pale, dark = np.array([253.0, 174.0, 97.0]), np.array([128.0, 0.0, 38.0])
    colours = pale + (dark - pale) * depth[..., None]
    colours[counts == 0] = 255.0
    stream = io.BytesIO()
    Image.fromarray(colours[::-1].astype(np.uint8)).save(stream, "PNG")
    return stream.getvalue()


def waveforms(waveform: Waveform) -> Element:
    """Draw the samples of A and B around a difference, and below them B - A."""
    svg = drawing(WIDTH, 300, f"channel {waveform.channel}: A, B and their difference")
    both = np.nan_to_num(np.stack([waveform.a, waveform.b]).astype(np.float64), posinf=0.0, neginf=0.0)
    ends = waveform.first_tick, waveform.first_tick + both.shape[1]
    _curves(svg, ends, (8.0, 138.0), [(both[0], A_COLOUR, 3.0), (both[1], B_COLOUR, 1.3)])
    _curves(svg, ends, (158.0, 238.0), [(both[1] - both[0], DIFFERENCE_COLOUR, 1.3)])
    _tick_axis(svg, (LEFT, RIGHT), 238.0, ends)
    _legend(svg, LEFT, 290, (("A", A_COLOUR), ("B", B_COLOUR), ("B - A", DIFFERENCE_COLOUR)))
    return svg


def _curves(
    svg: Element, ends: tuple[int, int], y: tuple[float, float], curves: list[tuple[np.ndarray, str, float]]
) -> None:
    """Draw curves (values, colour, width) of the ticks between the ends, and the lines of their values."""
    low = min(0.0, *(float(values.min()) for values, _, _ in curves))
    high = max(0.0, *(float(values.max()) for values, _, _ in curves))
    span = (high - low) or 1.0
    for value, part in _marks(low, high, 3):
        at = y[1] - (y[1] - y[0]) * part
        line(svg, (LEFT, RIGHT), (at, at), stroke=GRID)
        text(svg, LEFT - 6, at + 4, value, text_anchor="end", class_="soft")
    for values, colour, width in curves:
        x = LEFT + (RIGHT - LEFT) * np.arange(len(values)) / max(1, ends[1] - ends[0])
        heights = y[1] - (y[1] - y[0]) * (values - low) / span
        points = " ".join(f"{across:.1f},{up:.1f}" for across, up in zip(x, heights))
        add(svg, "polyline", points=points, fill="none", stroke=colour, stroke_width=width)


def _legend(svg: Element, x: float, y: float, entries: Sequence[tuple[str, str]]) -> None:
    for index, (name, colour) in enumerate(entries):
        add(svg, "rect", x=x + 100 * index, y=y - 10, width=12, height=12, fill=colour)
        text(svg, x + 100 * index + 18, y, name)
