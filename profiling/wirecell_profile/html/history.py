# SPDX-License-Identifier: Apache-2.0
"""Page of a history: per series of commits the steps as a table, and a plot per node with its levels."""

from __future__ import annotations

from xml.etree.ElementTree import Element

import numpy as np

from ..compare.history_store import Step
from ..compare.step_detection import pieces
from ..units import counted, short_time, ticks
from .render import render
from .svg import add, drawing, line, text

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 1100, 250, 90, 30, 30, 70
MAX_LABELS = 24  # hashes below a plot
SLOWER, FASTER = "#b3261e", "#1b6e3c"


def history_page(series: dict[str, list[dict]], metric: str, steps: list[Step], nodes: list[str]) -> str:
    """Return the page, one section per series."""
    sections = []
    for name, entries in series.items():
        conditions = entries[-1]["conditions"]
        machine = ", ".join(filter(None, (conditions.get(key) for key in ("machine", "processor", "device"))))
        own = [step for step in steps if step.series == name]
        plots = [
            plot(entries, metric, node, [step for step in own if step.node == node])
            for node in nodes
            if any(item.get(metric, {}).get(node, 0) > 0 for item in entries)
        ]
        sections.append(
            (f"{name}: {machine}, {counted(len(entries), 'commit')}", [_row(step) for step in own], plots)
        )
    return render("history.html", title="History", metric=metric, sections=sections)


def _row(step: Step) -> tuple[tuple[str, ...], str]:
    """Return the cells of a step, and the class of the last one."""
    change = f"{100 * step.change:+.1f} %"
    times = short_time(step.old), short_time(step.new)
    return (step.node, step.commit, step.before, *times, change), "slower" if step.change > 0 else "faster"


def plot(entries: list[dict], metric: str, node: str, steps: list[Step]) -> Element:
    """Draw points, the level of each piece, and a mark with the commit at each step."""
    measured = [item for item in entries if item.get(metric, {}).get(node, 0) > 0]
    values = np.array([item[metric][node] for item in measured])
    top = 1.08 * float(values.max())
    svg = drawing(WIDTH, HEIGHT, node)

    def x(index: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (index + 0.5) / len(measured)

    def y(value: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * float(1 - value / top)

    text(svg, LEFT, 16, node, font_weight=600)
    for tick in ticks(top):
        line(svg, (LEFT, WIDTH - RIGHT), (y(tick), y(tick)), stroke="#e3e7ec")
        text(svg, LEFT - 8, y(tick) + 4, short_time(tick) if tick else "0", text_anchor="end")
    every = -(-len(measured) // MAX_LABELS)
    for index, item in enumerate(measured):
        if index % every == 0:
            turned = f"translate({x(index) + 4:.1f},{HEIGHT - BOTTOM + 12}) rotate(-45)"
            style = {"text_anchor": "end", "font_size": "10.5px"}
            add(svg, "text", item["commit"][:8], transform=turned, **style)
        words = f"{item['commit']}: {short_time(values[index])}, {counted(item['runs'], 'run')}"
        add(svg, "circle", title=words, cx=x(index), cy=y(values[index]), r=3, fill="#5f6b7a")
    for piece in pieces(np.log(values)):
        level = y(float(np.exp(piece.level)))
        across = x(piece.first - 0.4), x(piece.last + 0.4)
        line(svg, across, (level, level), stroke="#1f5fa8", stroke_width=2.5)
    for step in steps:
        colour, at = SLOWER if step.change > 0 else FASTER, x(step.index - 0.5)
        line(svg, (at, at), (TOP, HEIGHT - BOTTOM), stroke=colour, stroke_dasharray="5 3")
        words = f"{100 * step.change:+.1f} % at {step.commit[:8]}"
        text(svg, at + 5, HEIGHT - BOTTOM - 8, words, fill=colour)
    return svg
