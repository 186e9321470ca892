# SPDX-License-Identifier: Apache-2.0
"""Memory over time as an SVG file: one panel each for host and device, with its own scale."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree.ElementTree import Element

from ..model.window import Window
from ..tables.memory_use import Series
from ..units import short_size, ticks
from .svg import add, drawing, line, text, to_string

WIDTH, PANEL, LEFT, RIGHT, TOP, GAP = 960, 220, 84, 24, 56, 64
COLOURS = ("#1F4E9C", "#F28E2B", "#2E8B57", "#D62728", "#8E44AD", "#17A589", "#8C6D31", "#E377C2")


def draw(series: list[Series], window: Window, title: str) -> str:
    """Return the SVG. Leave out times outside of window W, except the value at its start."""
    groups: dict[str, list[Series]] = {"host": [], "device": []}
    for each in series:
        groups["host" if each.name.startswith("process") else "device"].append(each)
    panels = [(name, members) for name, members in groups.items() if members]
    height = TOP + len(panels) * (PANEL + GAP)
    style = {"font_family": "sans-serif", "font_size": 12, "xmlns": "http://www.w3.org/2000/svg"}
    svg = drawing(WIDTH, height, title, **style)
    svg.attrib |= {"width": str(WIDTH), "height": str(height)}
    add(svg, "rect", width=WIDTH, height=height, fill="white")
    text(svg, LEFT, 24, title, font_size=16)
    for index, (name, members) in enumerate(panels):
        _panel(svg, name, members, window, TOP + index * (PANEL + GAP))
    return to_string(svg) + "\n"


def _panel(svg: Element, name: str, members: list[Series], window: Window, top: int) -> None:
    scale = max(1, *(int(each.value.max()) for each in members)) * 1.05
    width, length = WIDTH - LEFT - RIGHT, max(1, window.length)

    def x(time: int) -> float:
        return LEFT + width * (min(max(time, window.start), window.end) - window.start) / length

    def y(value: float) -> float:
        return top + PANEL * (1 - value / scale)

    add(svg, "rect", x=LEFT, y=top, width=width, height=PANEL, fill="none", stroke="#999")
    for tick in ticks(scale):
        line(svg, (LEFT, LEFT + width), (y(tick), y(tick)), stroke="#eee")
        text(svg, LEFT - 6, y(tick) + 4, short_size(tick), text_anchor="end")
    for tick in ticks(window.length / 1e9):
        text(svg, LEFT + width * tick * 1e9 / length, top + PANEL + 16, f"{tick:g}", text_anchor="middle")
    text(svg, LEFT + width / 2, top + PANEL + 32, "time since the start of W [s]", text_anchor="middle")
    middle = top + PANEL / 2
    turned = {"transform": f"rotate(-90 16 {middle})", "text_anchor": "middle"}
    text(svg, 16, middle, f"{name} memory", **turned)
    left = LEFT
    for each, colour in zip(members, COLOURS * (len(members) // len(COLOURS) + 1)):
        points = _points(each, window, x, y)
        add(svg, "polyline", fill="none", stroke=colour, stroke_width=1.5, points=points)
        add(svg, "rect", x=left, y=top - 14, width=10, height=10, fill=colour)
        words = f"{each.name}, peak {short_size(int(each.value.max()))}"
        text(svg, left + 14, top - 5, words)
        left += 30 + 7 * len(words)


def _points(series: Series, window: Window, x: Callable[[int], float], y: Callable[[float], float]) -> str:
    """Return the points of a line of steps: each value holds until the next."""
    points: list[tuple[float, float]] = []
    before = None
    for time, value in zip(series.time.tolist(), series.value.tolist()):
        if time > window.end:
            break
        if time < window.start:
            before = value
            continue
        if before is not None:
            points.append((x(time) if points else x(window.start), y(before)))
            if points[-1][0] != x(time):
                points.append((x(time), y(before)))
        points.append((x(time), y(value)))
        before = value
    if before is not None:
        if not points:
            points.append((x(window.start), y(before)))
        points.append((x(window.end), y(before)))
    return " ".join(f"{left:.1f},{down:.1f}" for left, down in points)
