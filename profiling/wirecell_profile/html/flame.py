# SPDX-License-Identifier: Apache-2.0
"""Flame graph of the profile page: ranges by the stack of ranges around them, as wide as the sum of their times."""

from __future__ import annotations

from collections.abc import Callable
from xml.etree.ElementTree import Element

import numpy as np

from ..model.events import Ranges
from ..model.nesting import nest
from ..model.nodes import ENGINE_DOMAIN
from ..model.selection import Scope
from ..model.window import Window
from ..units import counted, time_text
from .charts import Chart
from .svg import add, drawing, text

WIDTH, ROW, LETTER = 1200, 19, 6.9
LEAST_WIDTH = 0.8  # of a bar; narrower ones are left out, with what is inside
MAX_DEPTH = 30
DARK = 150  # luminance, of 255


def flame_graph(scope: Scope, window: Window, colour: Callable[[str], str]) -> list[Chart]:
    """Return the chart of the selected ranges within W, except those of the engines; none without ranges.

    `colour`: of a name.
    """
    ranges = scope.profile.or_empty("ranges")
    rows = scope.range_rows if len(ranges) else np.empty(0, np.int64)
    is_shown = ranges.on_one_thread & ~ranges.domain.matching(ENGINE_DOMAIN.__eq__)
    ranges = ranges.take(rows[is_shown[rows]])
    stacks = _stacks(ranges, window)
    total = sum(stacks.time[row] for row in stacks.inside[-1])
    if not total:
        return []
    bars = stacks.bars(total)
    svg = drawing(WIDTH, ROW * (1 + max(bar[1] for bar in bars)) + 2, "flame graph of the ranges")
    for row, depth, left, width in bars:
        name = stacks.name[row]
        words = f"{name}: {time_text(stacks.time[row])}, {100 * stacks.time[row] / total:.1f} %, "
        words += counted(stacks.count[row], "instance")
        _draw(svg, name, words, colour(name), (left, ROW * depth + 1, width))
    caption = (
        "Ranges within W on all threads, each below the range around it; as wide as the sum of its times. The part that no range "
        "inside covers is its own time. Point at a bar for its numbers."
    )
    return [Chart("Flame graph", caption, svg)]


def _draw(svg: Element, name: str, words: str, colour: str, extent: tuple[float, float, float]) -> None:
    left, top, width = extent
    box = add(svg, "g", title=words)
    add(box, "rect", x=left, y=top, width=max(width - 0.6, 0.4), height=ROW - 1, fill=colour)
    letters = int((width - 8) / LETTER)
    if letters >= 3:
        shown = name.split(":", 1)[-1] if name.startswith("spng:") else name
        shown = shown if len(shown) <= letters else shown[: letters - 1] + "…"
        red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
        is_dark = 0.299 * red + 0.587 * green + 0.114 * blue < DARK
        text(box, left + 4, top + 13, shown, fill="#fff" if is_dark else "#1c2430")


class Stacks:
    """Sums over the instances of each stack of range names."""

    def __init__(self) -> None:
        self.name: list[str] = []
        self.time: list[int] = []  # ns
        self.count: list[int] = []
        self.inside: dict[int, list[int]] = {-1: []}  # stack -> stacks of one range more; -1: the threads

    def bars(self, total: int) -> list[tuple[int, int, float, float]]:
        """Return (stack, depth, left, width) of the bars, the longest of a stack first.

        Start/end ranges may overlap; then those inside one are narrowed to its width.
        """
        found: list[tuple[int, int, float, float]] = []
        waiting = [(-1, 0, 0.0, float(WIDTH), total)]
        while waiting:
            parent, depth, left, room, time = waiting.pop()
            rows = sorted(self.inside.get(parent, []), key=lambda row: -self.time[row])
            scale = room / max(time, sum(self.time[row] for row in rows))
            for row in rows:
                width = scale * self.time[row]
                if width >= LEAST_WIDTH:
                    found.append((row, depth, left, width))
                    waiting.append((row, depth + 1, left, width, self.time[row]))
                left += width
        return found


def _stacks(ranges: Ranges, window: Window) -> Stacks:
    """Return the stacks of the parts of ranges within W."""
    start, end = np.maximum(ranges.start, window.start), np.minimum(ranges.end, window.end)
    shown = np.flatnonzero(end > start)
    start, end, ranges = start[shown], end[shown], ranges.take(shown)
    nesting, name = nest((start, end, ranges.thread)), ranges.folded.codes
    level, parent = nesting.level, nesting.parent
    stacks, stack = (
        Stacks(),
        np.full(len(ranges) + 1, -1, dtype=np.int64),
    )  # the last entry is for the index -1
    for depth in range(min(int(level.max(initial=-1)) + 1, MAX_DEPTH)):
        rows = np.flatnonzero(level == depth)
        pairs, first, found = np.unique(
            np.stack([stack[parent[rows]], name[rows]]), axis=1, return_index=True, return_inverse=True
        )
        found = found.reshape(-1)
        stack[rows] = len(stacks.name) + found
        for around, row in zip(pairs[0].tolist(), rows[first].tolist()):
            stacks.inside.setdefault(around, []).append(len(stacks.name))
            stacks.name.append(ranges.folded.text(row))
        stacks.time += np.bincount(found, weights=(end - start)[rows]).astype(np.int64).tolist()
        stacks.count += np.bincount(found).tolist()
    return stacks
