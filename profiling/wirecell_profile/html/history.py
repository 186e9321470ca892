"""The history as one self-contained HTML page: a plot per node with its levels, and the steps as a table."""

from __future__ import annotations

from html import escape

import numpy as np

from ..compare.comparison_text import time_text
from ..compare.history_store import Step
from ..compare.step_detection import pieces
from .comparison import STYLE, table

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 1100, 250, 90, 30, 30, 70
MOST_LABELS = 24  # hashes below a plot


def history_page(series: dict[str, list[dict]], metric: str, steps: list[Step], nodes: list[str]) -> str:
    """The page: one section per series."""
    parts = [f"<h1>{metric.capitalize()} time per event over commits</h1>"]
    for name, entries in series.items():
        machine = ", ".join(
            entries[-1]["conditions"].get(key, "")
            for key in ("machine", "processor", "device")
            if entries[-1]["conditions"].get(key)
        )
        parts.append(f"<h2>Series {escape(name)}: {escape(machine)}, {len(entries)} commits</h2>")
        own = [step for step in steps if step.series == name]
        parts.append(
            table(
                ("node", "commit", "before", "old", "new", "change"),
                [
                    (
                        (
                            step.node,
                            step.commit,
                            step.before,
                            time_text(step.old),
                            time_text(step.new),
                            f"{100 * step.change:+.1f} %",
                        ),
                        "slower" if step.change > 0 else "faster",
                    )
                    for step in own
                ],
            )
            if own
            else "<p>No steps.</p>"
        )
        parts += [
            plot(entries, metric, node, [step for step in own if step.node == node])
            for node in nodes
            if any(node in item.get(metric, {}) for item in entries)
        ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>History</title>'
        f"<style>{STYLE}</style></head><body>\n" + "\n".join(parts) + "\n</body></html>\n"
    )


def plot(entries: list[dict], metric: str, node: str, steps: list[Step]) -> str:
    """Points, the level of each piece, and a mark with the commit at each step."""
    measured = [item for item in entries if item.get(metric, {}).get(node, 0) > 0]
    values = np.array([item[metric][node] for item in measured])
    top = 1.08 * float(values.max())

    def x(place: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (place + 0.5) / len(measured)

    def y(value: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / top)

    parts = [
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="100%" role="img" aria-label="{escape(node)}">',
        f'<text x="{LEFT}" y="16" font-weight="600">{escape(node)}</text>',
    ]
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(share * top):.1f}" y2="{y(share * top):.1f}" stroke="#e3e7ec"/>'
            f'<text x="{LEFT - 8}" y="{y(share * top) + 4:.1f}" text-anchor="end">'
            f"{time_text(share * top) if share else '0'}</text>"
        )
    every = -(-len(measured) // MOST_LABELS)
    for place, item in enumerate(measured):
        if place % every == 0:
            parts.append(
                f'<text transform="translate({x(place) + 4:.1f},{HEIGHT - BOTTOM + 12}) rotate(-45)" text-anchor="end" '
                f'style="font-size:10.5px">{escape(item["commit"][:8])}</text>'
            )
        parts.append(
            f'<circle cx="{x(place):.1f}" cy="{y(values[place]):.1f}" r="3" fill="#5f6b7a"><title>{escape(item["commit"])}: '
            f"{time_text(values[place])}, {item['runs']} runs</title></circle>"
        )
    for piece in pieces(np.log(values)):
        level = float(np.exp(piece.level))
        parts.append(
            f'<line x1="{x(piece.first - 0.4):.1f}" x2="{x(piece.last + 0.4):.1f}" y1="{y(level):.1f}" y2="{y(level):.1f}" '
            'stroke="#1f5fa8" stroke-width="2.5"/>'
        )
    for step in steps:
        colour = "#b3261e" if step.change > 0 else "#1b6e3c"
        place = x(step.place - 0.5)
        parts.append(
            f'<line x1="{place:.1f}" x2="{place:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}" stroke="{colour}" stroke-dasharray="5 3"/>'
            f'<text x="{place + 5:.1f}" y="{HEIGHT - BOTTOM - 8}" style="fill:{colour}">'
            f"{100 * step.change:+.1f} % at {escape(step.commit[:8])}</text>"
        )
    return "\n".join([*parts, "</svg>"])
