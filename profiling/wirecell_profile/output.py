"""Tables as text, CSV or JSON.

A report's rows are tuples of int, float, str or None (nothing to say here, never zero). Formats of numbers are part of the
columns, so that CSV agrees with nsys's digit by digit.
"""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path

from .errors import ProfileError
from .output_file import output_file

FORMATS = ("table", "csv", "json")
WIDEST = 100  # characters of a column of text in a table; kernels' names run to thousands


@dataclass(frozen=True)
class Column:
    """Name with its unit in brackets, and digits after the point for numbers that are not integers."""

    name: str
    digits: int = 1

    def text(self, value: object) -> str:
        """The value as text."""
        if value is None:
            return ""
        return f"{self.rounded(value):.{self.digits}f}" if isinstance(value, float) else str(value)

    def rounded(self, value: float) -> float:
        """Halves away from zero, as SQL rounds; Python's formats round them to even."""
        scale = 10**self.digits
        return math.copysign(math.floor(abs(value) * scale + 0.5) / scale, value)


@dataclass
class Result:
    """The rows of a report."""

    columns: list[Column]
    rows: list[tuple]


def columns(*names: str) -> list[Column]:
    """Columns from their names; ':3' at the end of one means three digits."""
    parts = (
        name.rsplit(":", 1) if name[-2:-1] == ":" and name[-1].isdigit() else (name, "1") for name in names
    )
    return [Column(name, int(digits)) for name, digits in parts]


def as_csv(result: Result) -> str:
    """CSV with a header line, as nsys prints it."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([column.name for column in result.columns])
    for row in result.rows:
        writer.writerow([column.text(value) for column, value in zip(result.columns, row)])
    return buffer.getvalue()


def as_json(result: Result) -> str:
    """A list of objects. Integers stay exact, nothing is null."""
    names = [column.name for column in result.columns]
    return json.dumps([dict(zip(names, row)) for row in result.rows], indent=1, allow_nan=False) + "\n"


def as_table(result: Result) -> str:
    """Aligned columns with digits in groups; numbers to the right. Texts longer than WIDEST end in '...'."""
    texts = [[_grouped(column, value) for column, value in zip(result.columns, row)] for row in result.rows]
    numeric = [
        any(isinstance(row[i], (int, float)) for row in result.rows) for i in range(len(result.columns))
    ]
    head = [column.name for column in result.columns]
    cells = [head] + texts
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    lines = [
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric)
        )
        for row in [head, ["-" * width for width in widths], *texts]
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _grouped(column: Column, value: object) -> str:
    if isinstance(value, float):
        return f"{column.rounded(value):,.{column.digits}f}"
    if isinstance(value, int) and any(unit in column.name for unit in ("(ns)", "(B)")):
        return f"{value:,}"
    text = column.text(value)
    return text if len(text) <= WIDEST else text[: WIDEST - 3] + "..."


def render(result: Result, style: str) -> str:
    """The result in one of FORMATS."""
    return {"table": as_table, "csv": as_csv, "json": as_json}[style](result)


def write(text: str, path: Path | None) -> None:
    """To a file (see output_file); without a path to standard output. ProfileError when it cannot be written."""
    if path is None:
        sys.stdout.write(text)
        return
    try:
        with output_file(path) as partial:
            partial.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ProfileError("the output cannot be written", str(path), error.strerror or str(error)) from None
