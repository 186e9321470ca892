# SPDX-License-Identifier: Apache-2.0
"""A table of a profile as numpy columns, read on first use.

Integers stay integers, because times in ns and ids do not fit a double. SQL's NULL becomes the constant NULL,
which is not a valid time, id or size. A column that this version of the schema lacks is NULL in all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import Protocol

import numpy as np

from ..errors import MissingData
from .database import Database
from .grouping import group

NULL = int(np.iinfo(np.int64).min)
CHUNK = 1 << 16  # rows converted at once


@dataclass
class Labels:
    """A column of strings, each distinct string stored once.

    Row i has the string names[codes[i]], or none if codes[i] is -1.
    """

    codes: np.ndarray
    names: list[str]

    def __post_init__(self) -> None:
        self.codes = self.codes.astype(np.int32, copy=False)

    def __len__(self) -> int:
        return len(self.codes)

    def text(self, row: int) -> str:
        """Return the text of a row, empty if it has none."""
        code = self.codes[row]
        return self.names[code] if code >= 0 else ""

    def to_list(self) -> list[str]:
        """Return the strings of all rows, empty for rows without one."""
        return [self.names[code] if code >= 0 else "" for code in self.codes.tolist()]

    def take(self, rows: np.ndarray) -> Labels:
        """Return some of the rows (indices or a mask)."""
        return Labels(self.codes[rows], self.names)

    def map(self, change: Callable[[str], str]) -> Labels:
        """Apply a function to each distinct string, and merge strings that become equal."""
        found: dict[str, int] = {}
        new = [found.setdefault(change(name), len(found)) for name in self.names]
        table = np.array(new + [-1], dtype=np.int64)  # code -1 selects the last
        return Labels(table[self.codes], list(found))

    def ranks(self) -> np.ndarray:
        """Return for each row the position of its text among the sorted strings, -1 for rows without one."""
        positions = np.empty(len(self.names) + 1, dtype=np.int64)
        positions[sorted(range(len(self.names)), key=self.names.__getitem__)] = np.arange(len(self.names))
        positions[-1] = -1
        return positions[self.codes]

    def matching(self, test: Callable[[str], object]) -> np.ndarray:
        """Return the mask of rows whose text passes a test."""
        passed = np.array([bool(test(name)) for name in self.names] + [False])
        return passed[self.codes]


def label(strings: Iterable[str | None]) -> Labels:
    """Make labels from strings; None means no string."""
    source = iter(strings)
    found: dict[str | None, int] = {None: -1}
    parts = [np.empty(0, dtype=np.int32)]
    while part := list(islice(source, CHUNK)):
        for text in dict.fromkeys(part):
            found.setdefault(text, len(found) - 1)
        parts.append(np.fromiter(map(found.__getitem__, part), dtype=np.int32, count=len(part)))
    return Labels(np.concatenate(parts), [text for text in found if text is not None])


def combine(first: Labels, second: Labels, text: Callable[[str | None, str | None], str]) -> Labels:
    """Make labels from two columns: `text` of each distinct pair, where None means no string."""
    width = len(second.names) + 1
    keys = (first.codes.astype(np.int64) + 1) * width + second.codes + 1  # pairs may exceed 32 bits
    pairs, codes = np.unique(keys, return_inverse=True)
    left, right = [None, *first.names], [None, *second.names]
    names = [text(left[pair // width], right[pair % width]) for pair in pairs.tolist()]
    return Labels(codes.reshape(-1), names).map(str)


class Table:
    """An existing table. Rows are in the file's order; `rowid` is a column too."""

    def __init__(self, database: Database, name: str, strings: dict[int, str]) -> None:
        self._database = database
        self._strings = strings
        self.name = name
        self.columns = [row[1] for row in database.read(f'PRAGMA table_info("{name}")')]
        self._rows = database.integer(f'SELECT COUNT(*) FROM "{name}"')
        self._read: dict[str, np.ndarray] = {}

    def __len__(self) -> int:
        return self._rows

    def has(self, column: str) -> bool:
        """Return whether this version of the schema has the column."""
        return column in self.columns

    def require(self, *columns: str) -> None:
        """Raise MissingData unless the table has all these columns."""
        absent = [column for column in columns if not self.has(column)]
        if absent:
            raise MissingData(f"the file's table {self.name} has no column {', '.join(absent)}")

    def integers(self, column: str, null: int = NULL) -> np.ndarray:
        """Return an integer column (int64);

        `null` replaces NULL. SQLite stores unsigned 64-bit values as signed.
        """
        self.load(column)
        values = self._read[column]
        return values if null == NULL else np.where(values == NULL, null, values)

    def load(self, *columns: str) -> None:
        """Read integer columns together, which is faster than one by one.

        Columns without values are not read.
        """
        wanted = [column for column in dict.fromkeys(columns) if column not in self._read]
        filled = [column for column in wanted if column == "rowid" or self._has_values(column)]
        nothing = np.broadcast_to(np.int64(NULL), self._rows)  # takes no memory
        self._read |= {column: nothing for column in wanted if column not in filled}
        if not filled:
            return
        columns_ = [np.empty(self._rows, dtype=np.int64) for _ in filled]

        def fill(rows: Iterable[tuple]) -> None:
            values, size = chain.from_iterable(rows), len(filled)
            for at in range(0, self._rows, CHUNK):
                count = min(CHUNK, self._rows - at)
                part = np.fromiter(values, dtype=np.int64, count=count * size).reshape(count, size)
                for column, read in zip(columns_, part.T):
                    column[at : at + count] = read

        values = ", ".join(f'IFNULL("{column}", {NULL})' for column in filled)
        self._database.read(f'SELECT {values} FROM "{self.name}" ORDER BY rowid', fill)
        self._read |= dict(zip(filled, columns_))

    def forget(self) -> None:
        """Free the columns read so far; later uses read them again."""
        self._read.clear()

    def _has_values(self, column: str) -> bool:
        """Return whether any row has a value in the column."""
        if not self.has(column):
            return False
        return bool(
            self._database.integer(f'SELECT EXISTS(SELECT 1 FROM "{self.name}" WHERE "{column}" IS NOT NULL)')
        )

    def reals(self, column: str) -> np.ndarray:
        """Return a real column (float64); NULL becomes NaN."""
        values = [np.nan if value is None else value for value in self._values(column)]
        return np.array(values, dtype=np.float64)

    def text_column(self, column: str) -> Labels:
        """Return a text column."""
        if not self._has_values(column):
            return Labels(np.broadcast_to(np.int64(-1), self._rows), [])
        query = f'SELECT "{column}" FROM "{self.name}" ORDER BY rowid'
        return self._database.read(query, lambda rows: label(map(itemgetter(0), rows)))

    def strings(self, column: str) -> Labels:
        """Return a column of ids of StringIds as strings, with codes in the order of the ids.

        Rows whose id is not in StringIds have no string.
        """
        identifiers = self.integers(column)
        groups = group(identifiers)
        distinct = identifiers[groups.first]
        order = np.argsort(distinct)
        meant = label(self._strings.get(identifier) for identifier in distinct[order].tolist())
        codes = np.empty_like(meant.codes)
        codes[order] = meant.codes
        return Labels(codes[groups.of_row], meant.names)

    def _values(self, column: str) -> list:
        if not self._has_values(column):
            return [None] * len(self)
        return [
            value for (value,) in self._database.read(f'SELECT "{column}" FROM "{self.name}" ORDER BY rowid')
        ]


class TableSource(Protocol):
    """The part of a Profile that the readers of its tables use."""

    path: Path

    @property
    def event_types(self) -> dict[str, int]:
        """Name of an NVTX event type -> its value in NVTX_EVENTS.eventType."""

    @property
    def copy_kinds(self) -> dict[int, str]:
        """MEMCPY.copyKind -> label."""

    def has(self, name: str) -> bool:
        """Return whether the file has the table with at least one row."""

    def table(self, name: str) -> Table:
        """Return a table. Raise MissingData if the file lacks it."""

    def require(self, *names: str) -> None:
        """Raise MissingData unless at least one of these tables has rows."""

    def missing(self, *names: str) -> MissingData:
        """Make the error for data that the file lacks."""
