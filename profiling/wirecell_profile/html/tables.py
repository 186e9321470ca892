# SPDX-License-Identifier: Apache-2.0
"""Tables of the profile page. Cells keep the exact value for sorting; the shown text is rounded."""

from __future__ import annotations

from dataclasses import dataclass

from ..output import Result, cut_apart, scaled

MAX_ROWS = 200
MAX_TEXT, MAX_TOOLTIP = 120, 2000  # letters of a cell; of its tooltip


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
    for column, values in result.by_column():
        head, cells = scaled(column, values[:MAX_ROWS])
        is_text = any(isinstance(value, str) for value in values)
        heads.append((head, is_text))
        shown = cut_apart(cells, MAX_TEXT) if is_text else cells
        columns.append(zip([*map(_full, values)], shown))
    return PageTable(name, heads, list(zip(*columns)), max(0, len(result.rows) - MAX_ROWS))


def _full(value: object) -> object:
    """Return the value of a cell; of a text at most its first letters, for the tooltip."""
    return value[:MAX_TOOLTIP] if isinstance(value, str) else value
