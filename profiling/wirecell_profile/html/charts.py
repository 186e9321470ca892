"""Charts of the page as SVG: horizontal bars, dots per event, lines over time. Each has a title for screen readers, units on
its axis and the exact value under the pointer."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from html import escape

import numpy as np

WIDTH, ROW, LABEL, VALUE = 700, 21, 268, 92
INK, PALE, LINE, SOFT = "#1c2430", "#d9dee4", "#e3e7ec", "#5f6b7a"
FIRST_COLOUR, STEADY_COLOUR = "#F28E2B", "#1F4E9C"


def time_text(ns: float) -> str:
    """1234567 -> 1.23 ms."""
    return _scaled(ns, (("s", 1e9), ("ms", 1e6), ("µs", 1e3)), "ns")


def bytes_text(size: float) -> str:
    """1234567 -> 1.23 MB."""
    return _scaled(size, (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)), "B")


def _scaled(value: float, scales: tuple[tuple[str, float], ...], plain: str) -> str:
    """Three digits in a suitable unit."""
    unit, scale = next(((unit, scale) for unit, scale in scales if abs(value) >= scale), (plain, 1.0))
    value /= scale
    digits = max(0, 2 - int(math.log10(max(abs(value), 1)))) if unit != plain else 0
    return f"{value:,.{digits}f} {unit}"


def count_text(value: float) -> str:
    """12345 -> 12,345."""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


def percent_text(value: float) -> str:
    """12.3 -> 12.3 %."""
    return f"{value:.1f} %"


@dataclass(frozen=True)
class Bar:
    """A row of a bar chart: the value, and a longer pale one behind it (None: without)."""

    label: str
    value: float
    colour: str
    behind: float | None = None


def shortened(name: str, letters: int = 35) -> str:
    """What fits left of the bars, both ends kept."""
    return name if len(name) <= letters else name[: letters // 2 - 1] + "…" + name[-(letters // 2) :]


def ticks(largest: float, wanted: int = 5) -> list[float]:
    """Round values from 0 to the largest."""
    if largest <= 0:
        return [0.0]
    step = 10 ** math.floor(math.log10(largest / wanted))
    step *= next(factor for factor in (1, 2, 5, 10) if largest / (step * factor) <= wanted)
    return [step * number for number in range(int(largest / step + 1e-9) + 1)]


def figure(body: list[str], height: int, title: str, caption: str) -> str:
    """An SVG with a caption."""
    return (
        f'<figure><svg viewBox="0 0 {WIDTH} {height}" width="100%" role="img" aria-label="{escape(title)}">'
        + "".join(body)
        + f"</svg><figcaption>{escape(caption)}</figcaption></figure>"
    )


def bar_chart(
    bars: list[Bar],
    title: str,
    caption: str,
    text: Callable[[float], str] = time_text,
    largest: float | None = None,
) -> str:
    """Horizontal bars from zero, the longest first as given."""
    top = largest or max(max(bar.value, bar.behind or 0) for bar in bars) or 1.0
    right = WIDTH - VALUE
    bottom = ROW * len(bars) + 4

    def x(value: float) -> float:
        return LABEL + (right - LABEL) * min(value, top) / top

    body = []
    for tick in ticks(top):
        body.append(
            f'<line x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="0" y2="{bottom}" stroke="{LINE}"/>'
            f'<text class="soft" x="{x(tick):.1f}" y="{bottom + 15}" text-anchor="middle">{escape(text(tick) if tick else "0")}</text>'
        )
    for number, bar in enumerate(bars):
        y = ROW * number + 3
        said = text(bar.value) if bar.behind is None else f"{text(bar.value)} of {text(bar.behind)}"
        body.append(f"<g><title>{escape(bar.label)}: {escape(said)}</title>")
        if bar.behind is not None:
            body.append(
                f'<rect x="{LABEL}" y="{y}" width="{x(bar.behind) - LABEL:.1f}" height="{ROW - 6}" fill="{PALE}"/>'
            )
        body.append(
            f'<rect x="{LABEL}" y="{y}" width="{max(x(bar.value) - LABEL, 0.6):.1f}" height="{ROW - 6}" fill="{bar.colour}"/>'
            f'<text x="{LABEL - 8}" y="{y + 12}" text-anchor="end">{escape(shortened(bar.label))}</text>'
            f'<text x="{x(max(bar.value, bar.behind or 0)) + 6:.1f}" y="{y + 12}">{escape(text(bar.value))}</text></g>'
        )
    return figure(body, bottom + 22, title, caption)


def stacked_bar(parts: list[tuple[str, float, str]], title: str, caption: str) -> str:
    """Parts (label, value, colour) of one whole, in ns, side by side, with a legend below."""
    whole = sum(value for _, value, _ in parts) or 1.0
    body, left, row = [], 0.0, 0
    for number, (label, value, colour) in enumerate(parts):
        width = WIDTH * value / whole
        body.append(
            f'<rect x="{left:.1f}" y="2" width="{width:.1f}" height="26" fill="{colour}"><title>{escape(label)}: '
            f"{time_text(value)}, {100 * value / whole:.1f} %</title></rect>"
        )
        left += width
        row = number // 2
        at, y = (number % 2) * WIDTH / 2, 44 + 19 * row
        body.append(
            f'<rect x="{at:.0f}" y="{y}" width="12" height="12" fill="{colour}"/>'
            f'<text x="{at + 18:.0f}" y="{y + 10.5:.1f}">{escape(label)}: {time_text(value)}, {100 * value / whole:.1f} %</text>'
        )
    return figure(body, 66 + 19 * row, title, caption)


def event_chart(events: list[tuple[str, float, bool]], median: float | None, title: str, caption: str) -> str:
    """Latency (label, ns, whether it is the first event) as a dot per event; the median of the others as a line."""
    height, left, right, bottom = 250, 64, WIDTH - 12, 214
    top = max(value for _, value, _ in events) * 1.08
    body = _value_axis(top, left, right, bottom, time_text)
    x = np.linspace(left + 16, right - 10, len(events)) if len(events) > 1 else np.array([(left + right) / 2])

    def y(value: float) -> float:
        return bottom - (bottom - 10) * value / top

    if median is not None:
        body.append(
            f'<line x1="{left}" x2="{right}" y1="{y(median):.1f}" y2="{y(median):.1f}" stroke="{STEADY_COLOUR}" '
            f'stroke-dasharray="5 4"/><text class="soft" x="{right}" y="{height - 4}" text-anchor="end">'
            f"dashed: median after the first, {time_text(median)}</text>"
        )
    every = math.ceil(len(events) / 16)
    for number, (label, value, is_first) in enumerate(events):
        body.append(
            f'<circle cx="{x[number]:.1f}" cy="{y(value):.1f}" r="{4.5 if len(events) < 200 else 2}" '
            f'fill="{FIRST_COLOUR if is_first else STEADY_COLOUR}"><title>event {escape(label)}: {time_text(value)}'
            f"{' (first)' if is_first else ''}</title></circle>"
        )
        if is_first:
            body.append(
                f'<text x="{x[number] + 8:.1f}" y="{y(value) + 4:.1f}">first: {time_text(value)}</text>'
            )
        if number % every == 0:
            body.append(
                f'<text class="soft" x="{x[number]:.1f}" y="{bottom + 16}" text-anchor="middle">{escape(label)}</text>'
            )
    body.append(
        f'<text class="soft" x="{(left + right) / 2}" y="{height - 4}" text-anchor="middle">event</text>'
    )
    return figure(body, height, title, caption)


def line_chart(lines: list[tuple[str, np.ndarray, np.ndarray, str]], title: str, caption: str) -> str:
    """Bytes over time: (label, times in ns from the window's start, values, colour); a value holds until the next time."""
    height, left, right, bottom = 250, 64, WIDTH - 12, 200
    first = min(float(time[0]) for _, time, _, _ in lines)
    last = max(float(time[-1]) for _, time, _, _ in lines)
    top = max(float(value.max()) for _, _, value, _ in lines) * 1.06 or 1.0
    body = _value_axis(top, left, right, bottom, bytes_text)

    def x(time: np.ndarray | float) -> np.ndarray | float:
        return left + (right - left) * (time - first) / max(last - first, 1.0)

    step = (ticks(last - first, 8) + [last - first])[1]
    for number in range(math.ceil(first / step), math.floor(last / step) + 1):
        body.append(
            f'<text class="soft" x="{x(number * step):.1f}" y="{bottom + 16}" text-anchor="middle">'
            f"{time_text(number * step) if number else '0'}</text>"
        )
    for number, (label, time, value, colour) in enumerate(lines):
        across, up = x(time.astype(float)), bottom - (bottom - 10) * value / top
        path = f"M{across[0]:.1f} {up[0]:.1f}" + "".join(
            f"H{a:.1f}V{b:.1f}" for a, b in zip(across[1:], up[1:])
        )
        body.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
        at = left + number * (right - left) / max(len(lines), 2)
        body.append(
            f'<rect x="{at:.0f}" y="{height - 22}" width="12" height="12" fill="{colour}"/>'
            f'<text x="{at + 17:.0f}" y="{height - 11}">{escape(label)}: at most {bytes_text(float(value.max()))}</text>'
        )
    return figure(body, height, title, caption)


def _value_axis(
    top: float, left: float, right: float, bottom: float, text: Callable[[float], str]
) -> list[str]:
    body = []
    for tick in ticks(top):
        y = bottom - (bottom - 10) * tick / top
        body.append(
            f'<line x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke="{LINE}"/>'
            f'<text class="soft" x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{text(tick) if tick else "0"}</text>'
        )
    return body
