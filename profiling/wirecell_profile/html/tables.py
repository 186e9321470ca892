# SPDX-License-Identifier: Apache-2.0
"""Tables of the profile page. Cells keep the exact value for sorting; the shown text is rounded."""

from __future__ import annotations

from dataclasses import dataclass

from ..output import Column, Result
from ..units import SIZES, TIMES

MAX_ROWS = 200
SCALES = {"(ns)": TIMES, "(B)": SIZES}


@dataclass(frozen=True)
class PageTable:
    """A table for the template: heads (text, whether the column holds strings), rows of cells (value, text)."""

    name: str
    heads: list[tuple[str, bool]]
    rows: list[tuple[tuple[object, str], ...]]
    left_out: int  # rows beyond MAX_ROWS, which only the command line shows


def page_table(result: Result, name: str) -> PageTable:
    """Return the first MAX_ROWS rows of a result, with times and sizes in a unit that suits the largest of
    the column."""
    heads, columns = [], []
    for index, column in enumerate(result.columns):
        values = [row[index] for row in result.rows]
        head, cells = _column(column, values)
        heads.append((head, any(isinstance(value, str) for value in values)))
        columns.append(zip(values, cells))
    return PageTable(name, heads, list(zip(*columns))[:MAX_ROWS], max(0, len(result.rows) - MAX_ROWS))


def _column(column: Column, values: list) -> tuple[str, list[str]]:
    """Return the heading and the shown cells of a column."""
    numbers = [abs(value) for value in values if isinstance(value, (int, float))]
    for unit, scales in SCALES.items():
        if unit in column.name and numbers:
            for name, scale in scales:
                if max(numbers) >= 10 * scale:
                    return column.name.replace(unit, f"({name})"), [
                        f"{value / scale:,.3f}" if isinstance(value, (int, float)) else _plain(column, value)
                        for value in values
                    ]
    return column.name, [_plain(column, value) for value in values]


def _plain(column: Column, value: object) -> str:
    """Return the text of a value in the column's own unit."""
    if isinstance(value, int):
        return f"{value:,}"
    return f"{column.rounded(value):,.{column.digits}f}" if isinstance(value, float) else column.text(value)


def by_reason(missing: dict[str, str]) -> dict[str, list[str]]:
    """Return reason -> parts that are missing for it."""
    reasons: dict[str, list[str]] = {}
    for part, reason in missing.items():
        reasons.setdefault(reason, []).append(part)
    return reasons
