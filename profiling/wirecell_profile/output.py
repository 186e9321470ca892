# SPDX-License-Identifier: Apache-2.0
"""Tables as text, CSV or JSON.

Rows of a report are tuples of int, float, str or None (no value, which is not zero). Columns have the formats
of their numbers, so that CSV agrees with nsys's to the last digit.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from .errors import system_error
from .output_file import output_file
from .terminal import visible
from .units import SIZES, TIMES

Item = TypeVar("Item")

FORMATS = ("table", "csv", "json")
MAX_WHOLE = 2000  # characters of a text that is not shortened because others look alike
MAX_TEXT = 100  # characters of a text in a table; names of kernels can have thousands
MIN_TEXT = 28  # strings are not cut shorter to fit a narrow terminal
GAP, DOTS = "  ", "..."
SCALES = {"(ns)": TIMES, "(B)": SIZES}


@dataclass(frozen=True)
class Column:
    """Name with the unit in brackets, and the digits after the point of floats."""

    name: str
    digits: int = 1

    def text(self, value: object) -> str:
        """Return the value as text, empty for None."""
        if value is None:
            return ""
        return f"{self.rounded(value):.{self.digits}f}" if isinstance(value, float) else str(value)

    def rounded(self, value: float) -> float:
        """Round halves away from zero as SQL does; Python's formats round them to even."""
        scale = 10**self.digits
        if not math.isfinite(value * scale):
            return value
        return math.copysign(math.floor(abs(value) * scale + 0.5) / scale, value)


@dataclass
class Result:
    """Columns and rows of a report."""

    columns: list[Column]
    rows: list[tuple]

    def records(self) -> list[dict[str, object]]:
        """Return the rows by column name."""
        names = [column.name for column in self.columns]
        return [dict(zip(names, row)) for row in self.rows]

    def by_column(self) -> list[tuple[Column, list]]:
        """Return each column with its values."""
        return [(column, [row[i] for row in self.rows]) for i, column in enumerate(self.columns)]

    def text_columns(self) -> list[bool]:
        """Return for each column whether it holds no numbers."""
        return [
            not any(isinstance(value, (int, float)) for value in values) for _, values in self.by_column()
        ]


def columns(*names: str) -> list[Column]:
    """Make columns from strings such as "Name, Time (ns), Share (%):3"; ':3' means three digits, the default is one."""
    parts = [name.partition(":") for text in names for name in text.split(", ")]
    return [Column(name, int(digits or 1)) for name, _, digits in parts]


def table_of(items: Iterable[Item], cells: Mapping[str, Callable[[Item], object]]) -> Result:
    """Return one row per item, with columns given by their heads (see columns) and their cells."""
    return Result(columns(*cells), [tuple(cell(item) for cell in cells.values()) for item in items])


def as_csv(result: Result) -> str:
    """Return the result as CSV with a header line, as nsys prints it."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([column.name for column in result.columns])
    writer.writerows(
        zip(*(_cells(column, values) for column, values in zip(result.columns, zip(*result.rows))))
    )
    return buffer.getvalue()


def _cells(column: Column, values: Sequence[object]) -> Iterable[object]:
    """Return the values of a column for csv, which writes integers, strings and None as Column.text does."""
    return map(column.text, values) if float in set(map(type, values)) else values


def as_json(result: Result) -> str:
    """Return a list of objects. Integers stay exact; None becomes null."""
    return json_text(result.records())


def json_text(value: object) -> str:
    """Return a value as the text of a JSON file."""
    return json.dumps(value, indent=1, allow_nan=False) + "\n"


def as_table(result: Result) -> str:
    """Return aligned columns with grouped digits, numbers to the right.

    Shorten strings longer than MAX_TEXT; different ones stay different.
    """
    return _table([column.name for column in result.columns], bodies(result, grouped), MAX_TEXT, result)


def as_readable_table(result: Result, rows: int, width: int, more: str) -> str:
    """Return the first rows as aligned columns, with times and sizes in a unit that suits the column.

    `width`: characters per line, 0 for any. `more`: where to find the other rows, if there are more.
    """
    shown = Result(result.columns, result.rows[:rows] if rows else result.rows)
    columns_ = [scaled(column, values) for column, values in shown.by_column()]
    heads = [head.replace("µ", "u") for head, _ in columns_]  # terminals may have only ASCII
    bodies = [cells for _, cells in columns_]
    fixed = sum(
        max(map(len, (head, *cells))) + len(GAP)
        for head, cells, is_text in zip(heads, bodies, shown.text_columns())
        if not is_text
    )
    text_columns = max(1, sum(shown.text_columns()))
    free = (width - fixed) // text_columns - len(GAP) if width else MAX_TEXT
    left_out = len(result.rows) - len(shown.rows)
    note = f"{left_out:,} more: {more}\n" if left_out else ""
    return _table(heads, bodies, min(max(free, MIN_TEXT), MAX_TEXT), shown) + note


def _table(heads: list[str], bodies: list[list[str]], longest: int, result: Result) -> str:
    """Align columns, given by their cells, under a rule; shorten strings to `longest` letters."""
    is_text = result.text_columns()
    bodies = [
        cut_apart([visible(cell) for cell in cells], longest) if text else cells
        for text, cells in zip(is_text, bodies)
    ]
    rule = ["-" * max(map(len, (head, *cells))) for head, cells in zip(heads, bodies)]
    return "\n".join(aligned([heads, rule, *zip(*bodies)], [not text for text in is_text])) + "\n"


def bodies(result: Result, cell: Callable[[Column, object], str]) -> list[list[str]]:
    """Return the cells of each column."""
    return [[cell(column, value) for value in values] for column, values in result.by_column()]


def scaled(column: Column, values: Sequence[object]) -> tuple[str, list[str]]:
    """Return heading and cells of a column; times and sizes are in a unit that suits the largest."""
    numbers = [abs(value) for value in values if isinstance(value, (int, float))]
    for unit, scales in SCALES.items():
        if unit in column.name and numbers:
            for name, scale in scales:
                if max(numbers) >= 10 * scale:
                    return column.name.replace(unit, f"({name})"), [
                        f"{value / scale:,.3f}" if isinstance(value, (int, float)) else column.text(value)
                        for value in values
                    ]
    return column.name, [_separated(column, value) for value in values]


def _separated(column: Column, value: object) -> str:
    """Return a value with separated thousands, in the column's own unit."""
    if isinstance(value, int):
        return f"{value:,}"
    return f"{column.rounded(value):,.{column.digits}f}" if isinstance(value, float) else column.text(value)


def cut_apart(names: Sequence[str], longest: int) -> list[str]:
    """Shorten names to at most `longest` letters, so that different names stay different.

    Names that begin and end alike are cut before the first letter in which they differ. Names that even then
    look alike stay whole, up to MAX_WHOLE letters.
    """
    distinct = set(names)
    cut = {name: _middle_cut(name, longest) for name in distinct}
    for retry in (
        lambda name, alike: _cut_before(name, len(os.path.commonprefix(alike)), longest),
        lambda name, _: _middle_cut(name, MAX_WHOLE),
    ):
        shown: dict[str, list[str]] = {}
        for name in distinct:
            shown.setdefault(cut[name], []).append(name)
        for alike in (found for found in shown.values() if len(found) > 1):
            cut |= {name: retry(name, alike) for name in alike}
    return [cut[name] for name in names]


def _middle_cut(name: str, longest: int) -> str:
    last = (longest - len(DOTS)) // 3
    return (
        name if len(name) <= longest else name[: longest - len(DOTS) - last] + DOTS + name[len(name) - last :]
    )


def _cut_before(name: str, position: int, longest: int) -> str:
    """Return the beginning of a name and the part from shortly before a position."""
    first = longest // 3
    begin = max(first, min(position - 3, len(name) - (longest - first - len(DOTS))))
    return (name[:first] + DOTS + name[begin:])[:longest]


def aligned(rows: Sequence[Sequence[str]], to_right: Sequence[bool]) -> list[str]:
    """Return the rows as lines with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return [
        GAP.join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, to_right)
        ).rstrip()
        for row in rows
    ]


def grouped(column: Column, value: object) -> str:
    """Return a value with separated thousands, if it has a unit or is a real."""
    if isinstance(value, float):
        return f"{column.rounded(value):,.{column.digits}f}"
    if isinstance(value, int) and any(unit in column.name for unit in ("(ns)", "(B)")):
        return f"{value:,}"
    return column.text(value)


def render(result: Result, style: str) -> str:
    """Return the result in one of FORMATS."""
    return {"table": as_table, "csv": as_csv, "json": as_json}[style](result)


def by_reason(missing: dict[str, str]) -> dict[str, list[str]]:
    """Return reason -> parts that are missing for it."""
    reasons: dict[str, list[str]] = {}
    for part, reason in missing.items():
        reasons.setdefault(reason, []).append(part)
    return reasons


def missing_text(missing: dict[str, str], recorded: str, lead: str) -> str:
    """Return a line for each reason why parts are missing, and one with the parts of the run that were recorded.

    `lead`: before each reason.
    """
    lines = [f"{lead}{', '.join(parts)}: {visible(reason)}\n" for reason, parts in by_reason(missing).items()]
    return "".join([*lines, f"{'':<{len(lead)}}recorded: {recorded}\n" if lines and recorded else ""])


def terminal_width() -> int:
    """Return the characters per line of the terminal, 0 if standard output is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 0


def write(text: str, path: Path | None) -> None:
    """Write to a file (see output_file), or to standard output if there is no path.

    Raise ProfileError on failure.
    """
    if path is None:
        sys.stdout.write(text)
        return
    with written(path) as partial:
        partial.write_text(
            text, encoding="utf-8", errors="backslashreplace"
        )  # names of files need not be UTF-8


@contextmanager
def written(path: Path) -> Iterator[Path]:
    """Do as output_file, but raise ProfileError on failure."""
    try:
        with output_file(path) as partial:
            yield partial
    except OSError as error:
        raise system_error("cannot write the output", path, error) from None
