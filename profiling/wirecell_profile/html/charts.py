# SPDX-License-Identifier: Apache-2.0
"""Charts of the profile page: horizontal bars, dots per event, lines over time.

Each chart has a title for screen readers, units on its axis, and the exact values under the pointer.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar
from xml.etree.ElementTree import Element

import numpy as np

from ..output import cut_apart
from ..units import bytes_text, ticks, time_text
from .svg import add, drawing, line, text

WIDTH, ROW, LABEL, VALUE = 700, 21, 262, 128
LABEL_LETTERS = 36
PALE, LINE = "#d9dee4", "#e3e7ec"
Values = TypeVar("Values", float, np.ndarray)
FIRST_COLOUR, STEADY_COLOUR = "#F28E2B", "#1F4E9C"


class Scale(Protocol):
    """Function from values to positions."""

    def __call__(self, value: Values, /) -> Values: ...


@dataclass(frozen=True)
class Chart:
    """A drawing, if there is one, between its heading and its caption."""

    heading: str
    caption: str
    drawing: Element | None = None


@dataclass(frozen=True)
class Bar:
    """A row of a bar chart: the value, and optionally a longer pale one behind it, or where the bar begins."""

    label: str
    value: float
    colour: str
    behind: float | None = None
    start: float = 0.0


def bar_chart(
    bars: list[Bar], title: str, value_text: Callable[[float], str] = time_text, largest: float | None = None
) -> Element:
    """Draw horizontal bars in the given order."""
    top = largest or max(bar.start + max(bar.value, bar.behind or 0) for bar in bars) or 1.0
    right, bottom = WIDTH - VALUE, ROW * len(bars) + 4
    svg = drawing(WIDTH, bottom + 22, title)

    def x(value: float) -> float:
        return LABEL + (right - LABEL) * min(value, top) / top

    for tick in ticks(top):
        at, words = x(tick), value_text(tick) if tick else "0"
        line(svg, (at, at), (0, bottom), stroke=LINE)
        text(svg, at, bottom + 15, words, class_="soft", text_anchor="middle")
    labels = cut_apart([bar.label for bar in bars], LABEL_LETTERS)
    for index, (bar, label) in enumerate(zip(bars, labels)):
        y, value = ROW * index + 3, value_text(bar.value)
        behind = None if bar.behind is None else value_text(bar.behind)
        exact = value if behind in (None, value) else f"{value} of {behind}"
        row = add(svg, "g", title=f"{bar.label}: {exact}")
        height = ROW - 6
        if bar.behind is not None:
            add(row, "rect", x=LABEL, y=y, height=height, width=x(bar.behind) - LABEL, fill=PALE)
        left, right_end = x(bar.start), x(bar.start + bar.value)
        add(row, "rect", x=left, y=y, height=height, width=max(right_end - left, 0.6), fill=bar.colour)
        text(row, LABEL - 8, y + 12, label, text_anchor="end")
        text(row, x(bar.start + max(bar.value, bar.behind or 0)) + 6, y + 12, exact)
    return svg


def stacked_bar(parts: list[tuple[str, float, str]], title: str) -> Element:
    """Draw parts (label, value [ns], colour) of a whole side by side, with a legend below."""
    whole = sum(value for _, value, _ in parts) or 1.0
    svg = drawing(WIDTH, 66 + 19 * ((len(parts) - 1) // 2), title)
    left = 0.0
    for index, (label, value, colour) in enumerate(parts):
        width, words = WIDTH * value / whole, f"{label}: {time_text(value)}, {100 * value / whole:.1f} %"
        add(svg, "rect", title=words, x=left, y=2, width=width, height=26, fill=colour)
        left += width
        _legend_entry(svg, (index % 2) * WIDTH / 2, 44 + 19 * (index // 2), words, colour)
    return svg


def _legend_entry(svg: Element, x: float, y: float, words: str, colour: str) -> None:
    add(svg, "rect", x=x, y=y, width=12, height=12, fill=colour)
    text(svg, x + 18, y + 10.5, words)


def event_chart(events: list[tuple[str, float, bool]], median: float | None, title: str) -> Element:
    """Draw a dot per event (label, latency [ns], whether it is the first), and the median of the others as a
    line."""
    height, left, right, bottom = 250, 64, WIDTH - 12, 214
    top = max(value for _, value, _ in events) * 1.08
    svg = drawing(WIDTH, height, title)
    y = _value_axis(svg, top, (left, right), bottom, time_text)
    x = np.linspace(left + 16, right - 10, len(events)) if len(events) > 1 else np.array([(left + right) / 2])
    if median is not None:
        line(svg, (left, right), (y(median), y(median)), stroke=STEADY_COLOUR, stroke_dasharray="5 4")
        words = f"dashed: median without first events, {time_text(median)}"
        text(svg, right, height - 4, words, class_="soft", text_anchor="end")
    every = math.ceil(len(events) / 16)
    for index, (label, value, is_first) in enumerate(events):
        at, words = float(x[index]), f"event {label}: {time_text(value)}{' (first)' if is_first else ''}"
        colour, radius = FIRST_COLOUR if is_first else STEADY_COLOUR, 4.5 if len(events) < 200 else 2
        add(svg, "circle", title=words, cx=at, cy=y(value), r=radius, fill=colour)
        if is_first:
            text(svg, at + 8, y(value) + 4, f"first: {time_text(value)}")
        if index % every == 0:
            text(svg, at, bottom + 16, label, class_="soft", text_anchor="middle")
    text(svg, (left + right) / 2, height - 4, "event", class_="soft", text_anchor="middle")
    return svg


def line_chart(lines: list[tuple[str, np.ndarray, np.ndarray, str]], title: str) -> Element:
    """Draw bytes over time as lines (label, times since the start of window W [ns], values, colour).

    A value holds until the next time.
    """
    height, left, right, bottom = 250, 64, WIDTH - 12, 200
    first = min(float(time[0]) for _, time, _, _ in lines)
    last = max(float(time[-1]) for _, time, _, _ in lines)
    top = max(float(value.max()) for _, _, value, _ in lines) * 1.06 or 1.0
    svg = drawing(WIDTH, height, title)
    y = _value_axis(svg, top, (left, right), bottom, bytes_text)

    def x(time: Values) -> Values:
        return left + (right - left) * (time - first) / max(last - first, 1.0)

    step = (ticks(last - first, 8) + [last - first])[1]
    for tick in range(math.ceil(first / step), math.floor(last / step) + 1):
        words = time_text(tick * step) if tick else "0"
        text(svg, x(tick * step), bottom + 16, words, class_="soft", text_anchor="middle")
    for index, (label, time, value, colour) in enumerate(lines):
        across, up = x(time.astype(float)), y(value)
        steps = "".join(f"H{a:.1f}V{b:.1f}" for a, b in zip(across[1:], up[1:]))
        path = f"M{across[0]:.1f} {up[0]:.1f}{steps}"
        add(svg, "path", d=path, fill="none", stroke=colour, stroke_width=1.6)
        words = f"{label}: at most {bytes_text(float(value.max()))}"
        _legend_entry(svg, left + index * (right - left) / max(len(lines), 2), height - 22, words, colour)
    return svg


def _value_axis(
    svg: Element, top: float, x: tuple[float, float], bottom: float, value_text: Callable[[float], str]
) -> Scale:
    """Draw the axis from 0 to top; return the function from values to y."""

    def y(value: Values) -> Values:
        return bottom - (bottom - 10) * value / top

    for tick in ticks(top):
        line(svg, x, (y(tick), y(tick)), stroke=LINE)
        words = value_text(tick) if tick else "0"
        text(svg, x[0] - 6, y(tick) + 4, words, class_="soft", text_anchor="end")
    return y
