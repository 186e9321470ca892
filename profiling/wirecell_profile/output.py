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
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .errors import system_error
from .output_file import output_file

FORMATS = ("table", "csv", "json")
MAX_TEXT = 100  # characters of a text in a table; names of kernels can have thousands


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


def columns(*names: str) -> list[Column]:
    """Make columns from strings such as "Name, Time (ns), Share (%):3"; ':3' means three digits, the default is one."""
    parts = [name.partition(":") for text in names for name in text.split(", ")]
    return [Column(name, int(digits or 1)) for name, _, digits in parts]


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
    """Return the values of a column for csv, which writes integers, texts and None as Column.text does."""
    return map(column.text, values) if float in set(map(type, values)) else values


def as_json(result: Result) -> str:
    """Return a list of objects. Integers stay exact; None becomes null."""
    return json_text(result.records())


def json_text(value: object) -> str:
    """Return a value as the text of a JSON file."""
    return json.dumps(value, indent=1, allow_nan=False) + "\n"


def as_table(result: Result) -> str:
    """Return aligned columns with grouped digits, numbers to the right.

    Shorten strings longer than MAX_TEXT and end them in '...'.
    """
    body = [[_grouped(column, value) for column, value in zip(result.columns, row)] for row in result.rows]
    numeric = [
        any(isinstance(row[i], (int, float)) for row in result.rows) for i in range(len(result.columns))
    ]
    head = [column.name for column in result.columns]
    rule = ["-" * max(map(len, column)) for column in zip(head, *body)]
    return "\n".join(aligned([head, rule, *body], numeric)) + "\n"


def aligned(rows: Sequence[Sequence[str]], to_right: Sequence[bool]) -> list[str]:
    """Return the rows as lines with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return [
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, to_right)
        ).rstrip()
        for row in rows
    ]


def _grouped(column: Column, value: object) -> str:
    if isinstance(value, float):
        return f"{column.rounded(value):,.{column.digits}f}"
    if isinstance(value, int) and any(unit in column.name for unit in ("(ns)", "(B)")):
        return f"{value:,}"
    text = column.text(value)
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 3] + "..."


def render(result: Result, style: str) -> str:
    """Return the result in one of FORMATS."""
    return {"table": as_table, "csv": as_csv, "json": as_json}[style](result)


def write(text: str, path: Path | None) -> None:
    """Write to a file (see output_file), or to standard output if there is no path.

    Raise ProfileError on failure.
    """
    if path is None:
        sys.stdout.write(text)
        return
    with written(path) as partial:
        partial.write_text(text, encoding="utf-8")


@contextmanager
def written(path: Path) -> Iterator[Path]:
    """Do as output_file, but raise ProfileError on failure."""
    try:
        with output_file(path) as partial:
            yield partial
    except OSError as error:
        raise system_error("cannot write the output", path, error) from None
