# SPDX-License-Identifier: Apache-2.0
"""Formatting of values with units, and round values for axes."""

from __future__ import annotations

import math

TIMES = (("s", 1e9), ("ms", 1e6), ("µs", 1e3))  # of ns
SIZES = (("GB", 1e9), ("MB", 1e6), ("kB", 1e3))


def time_text(ns: float) -> str:
    """1234567 -> 1.23 ms."""
    return _scaled(ns, TIMES, "ns")


def bytes_text(size: float) -> str:
    """1234567 -> 1.23 MB."""
    return _scaled(size, SIZES, "B")


def _scaled(value: float, scales: tuple[tuple[str, float], ...], plain: str) -> str:
    """Return three digits in the largest unit that fits."""
    unit, scale = next(((unit, scale) for unit, scale in scales if abs(value) >= scale), (plain, 1.0))
    value /= scale
    digits = max(0, 2 - int(math.log10(max(abs(value), 1)))) if unit != plain else 0
    return f"{value:,.{digits}f} {unit}"


def short_time(ns: float) -> str:
    """1230000 -> 1.23 ms, in ASCII and without trailing zeros."""
    return _short(ns, ("ns", "us", "ms", "s"))


def short_size(size: float) -> str:
    """1234567 -> 1.23 MB, without trailing zeros."""
    return _short(size, ("B", "kB", "MB", "GB", "TB"))


def _short(value: float, units: tuple[str, ...]) -> str:
    """Return at most three digits in the largest unit that fits."""
    power = next((i for i in range(len(units) - 1) if value < 999.5 * 1000**i), len(units) - 1)
    return f"{value / 1000**power:.3g} {units[power]}"


def count_text(value: float) -> str:
    """12345 -> 12,345."""
    return f"{value:,.0f}" if value == int(value) else f"{value:,.1f}"


def counted(count: int, noun: str) -> str:
    """1, run -> 1 run; 1234, run -> 1,234 runs."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def percent_text(value: float) -> str:
    """12.3 -> 12.3 %."""
    return f"{value:.1f} %"


def ticks(largest: float, wanted: int = 5) -> list[float]:
    """Return about `wanted` round values from 0 to the largest."""
    if largest <= 0:
        return [0.0]
    step = 10 ** math.floor(math.log10(largest / wanted))
    step *= next(factor for factor in (1, 2, 5, 10) if largest / (step * factor) <= wanted)
    return [step * index for index in range(int(largest / step + 1e-9) + 1)]


def shortened(name: str, first: int, last: int) -> str:
    """Shorten a name to its first and last letters with an ellipsis between."""
    return name if len(name) <= first + last + 1 else f"{name[:first]}…{name[-last:]}"
