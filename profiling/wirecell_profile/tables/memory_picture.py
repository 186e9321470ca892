"""Memory over time as an SVG: one panel per group of quantities, each with its own scale."""

from __future__ import annotations

from html import escape

from ..model.window import Window
from .memory_use import Series

WIDTH, PANEL, LEFT, RIGHT, TOP, GAP = 960, 220, 84, 24, 56, 64
COLOURS = ("#1F4E9C", "#F28E2B", "#2E8B57", "#D62728", "#8E44AD", "#17A589", "#8C6D31", "#E377C2")
UNITS = ("B", "kB", "MB", "GB", "TB")


def draw(series: list[Series], window: Window, title: str) -> str:
    """The SVG. Times outside of the window are left out, the value at its start is carried in."""
    groups = {"host": [], "device": []}
    for each in series:
        groups["host" if each.name.startswith("process") else "device"].append(each)
    panels = [(name, members) for name, members in groups.items() if members]
    height = TOP + len(panels) * (PANEL + GAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
        f'<text x="{LEFT}" y="24" font-size="16">{escape(title)}</text>',
    ]
    for number, (name, members) in enumerate(panels):
        parts += _panel(name, members, window, TOP + number * (PANEL + GAP))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _panel(name: str, members: list[Series], window: Window, top: int) -> list[str]:
    highest = max(int(each.value.max()) for each in members)
    scale = max(1, highest) * 1.05
    width = WIDTH - LEFT - RIGHT

    def x(time: int) -> float:
        return LEFT + width * (min(max(time, window.start), window.end) - window.start) / max(
            1, window.length
        )

    def y(value: float) -> float:
        return top + PANEL * (1 - value / scale)

    parts = [f'<rect x="{LEFT}" y="{top}" width="{width}" height="{PANEL}" fill="none" stroke="#999"/>']
    for step in _ticks(scale):
        parts.append(
            f'<line x1="{LEFT}" x2="{LEFT + width}" y1="{y(step):.1f}" y2="{y(step):.1f}" stroke="#eee"/>'
        )
        parts.append(f'<text x="{LEFT - 6}" y="{y(step) + 4:.1f}" text-anchor="end">{size_text(step)}</text>')
    for step in _ticks(window.length / 1e9):
        at = LEFT + width * step * 1e9 / max(1, window.length)
        parts.append(f'<text x="{at:.1f}" y="{top + PANEL + 16}" text-anchor="middle">{step:g}</text>')
    parts.append(
        f'<text x="{LEFT + width / 2}" y="{top + PANEL + 32}" text-anchor="middle">time since the start of W [s]</text>'
    )
    parts.append(
        f'<text x="16" y="{top + PANEL / 2}" transform="rotate(-90 16 {top + PANEL / 2})" '
        f'text-anchor="middle">{name} memory</text>'
    )
    place = LEFT
    for each, colour in zip(members, COLOURS * (len(members) // len(COLOURS) + 1)):
        parts.append(
            f'<polyline fill="none" stroke="{colour}" stroke-width="1.5" points="{_points(each, window, x, y)}"/>'
        )
        parts.append(f'<rect x="{place}" y="{top - 14}" width="10" height="10" fill="{colour}"/>')
        text = f"{each.name}, peak {size_text(int(each.value.max()))}"
        parts.append(f'<text x="{place + 14}" y="{top - 5}">{escape(text)}</text>')
        place += 30 + 7 * len(text)
    return parts


def _points(series: Series, window: Window, x, y) -> str:
    """A line that steps: each value holds until the next."""
    points, before = [], None
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


def _ticks(highest: float) -> list[float]:
    """About five round steps from 0."""
    if highest <= 0:
        return [0.0]
    raw = highest / 5
    power = 10 ** len(str(int(raw))) / 10 if raw >= 1 else 10.0 ** -len(str(int(1 / raw)))
    step = next(power * factor for factor in (1, 2, 5, 10, 20, 50, 100) if power * factor >= raw)
    return [step * i for i in range(int(highest / step) + 1)]


def size_text(size: float) -> str:
    """1234567 -> 1.23 MB; powers of 1000."""
    unit = 0
    while size >= 1000 and unit < len(UNITS) - 1:
        size, unit = size / 1000, unit + 1
    return f"{size:.3g} {UNITS[unit]}"
