# SPDX-License-Identifier: Apache-2.0
"""A table of a profile as numpy columns, read on first use.

Integers stay integers, because times in ns and ids do not fit a double. SQL's NULL becomes the constant NULL,
which is not a valid time, id or size. A column that this version of the schema lacks is NULL in all rows.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from operator import itemgetter
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ..errors import MissingData, ProfileError
from .database import Database, as_text, quoted
from .grouping import group

NULL = int(np.iinfo(np.int64).min)
CHUNK = 1 << 16  # rows converted at once
STARTS = {"start", "timestamp", "enq", "t"}  # times that every event has
TIMES = {"start", "end", "timestamp", "rawTimestamp", "enq", "deq", "t", "startTime", "stopTime"}
EPOCH = "utcEpochNs"  # time of a session since 1970, which is not relative to a session
# Bounds of times and of their sums, ns: differences and sums of two still fit 64 bits. Times since 1970 are 2^61.
MAX_TIME, MAX_SUM = 1 << 61, 1 << 62


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
        described = database.read(f"PRAGMA table_xinfo({quoted(name)})")
        self.types = {column: kind for _, column, kind, *_ in described}
        if any(hidden for *_, hidden in described):  # an expression, evaluated for each row
            raise database.damaged(f"{name} has generated columns", "stored columns")
        self._from = f"FROM {quoted(name)} NOT INDEXED"  # an index may contradict its table
        # COUNT(*) has its own loop, which does not count steps: pages that refer to each other make it endless.
        self._rows = database.integer(f"SELECT COUNT(rowid) {self._from}")
        self._read: dict[str, np.ndarray] = {}

    def __len__(self) -> int:
        return self._rows

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return list(self.types)

    def has(self, column: str) -> bool:
        """Return whether this version of the schema has the column."""
        return column in self.types

    def query(self, *columns: str) -> str:
        """Return the query for all rows, of some columns or of all."""
        return f"SELECT {', '.join(map(quoted, columns or self.types))} {self._from} ORDER BY rowid"

    def require(self, *columns: str) -> None:
        """Raise MissingData unless the table has all these columns."""
        absent = [column for column in columns if not self.has(column)]
        if absent:
            raise MissingData(f"the file's table {self.name} has no column {', '.join(absent)}")

    def integers(self, column: str, null: int = NULL) -> np.ndarray:
        """Return an integer column (int64);

        `null` replaces NULL. SQLite stores unsigned 64-bit values as signed. Raise ProfileError for other values
        than numbers of 64 bits.
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
        if self._rows and (empty := STARTS & set(wanted) - set(filled)):
            raise self._database.damaged(f"{self.name}.{min(empty)} is NULL", "a time in each row")
        if not filled:
            return
        columns_ = [np.empty(self._rows, dtype=np.int64) for _ in filled]

        def fill(rows: Iterable[tuple]) -> None:
            values, size = chain.from_iterable(rows), len(filled)
            for at in range(0, self._rows, CHUNK):
                count = min(CHUNK, self._rows - at)
                # An array rejects reals and strings, which NumPy converts.
                part = np.frombuffer(array("q", islice(values, count * size)), dtype=np.int64)
                for column, read in zip(columns_, part.reshape(count, size).T):
                    column[at : at + count] = read

        values = ", ".join(f"IFNULL({quoted(column)}, {NULL})" for column in filled)
        try:
            self._database.read(f"SELECT {values} {self._from} ORDER BY rowid", fill)
        except (TypeError, ValueError, OverflowError):
            raise self._wrong(filled, ("integer",)) from None
        for name, read in zip(filled, columns_):
            if name in STARTS and (read == NULL).any():
                raise self._database.damaged(f"{self.name}.{name} is NULL", "a time in each row")
            if name in (*TIMES, EPOCH) and ((np.abs(read) > MAX_TIME) & (read != NULL)).any():
                raise self._database.damaged(f"{self.name}.{name} has times beyond 2^61 ns", "shorter times")
        self._read |= dict(zip(filled, columns_))

    def intervals(self, is_open: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """Return starts and ends of all rows. `is_open`: the end may be NULL.

        Raise ProfileError unless all durations together fit 64 bits, so that no sum of them overflows.
        """
        start, end = self.integers("start"), self.integers("end")
        known = end != NULL
        if not (is_open or known.all()):
            raise self._database.damaged(f"{self.name}.end is NULL", "a time in each row")
        if np.abs(end - start, where=known, out=np.zeros(len(self))).sum() > MAX_SUM:
            raise self._database.damaged(f"the rows of {self.name} last longer than 2^62 ns", "shorter times")
        return start, end

    def _wrong(self, columns: Sequence[str], kinds: Sequence[str]) -> ProfileError:
        """Make the error for the first value in these columns that is not of these types of SQLite."""
        accepted = ", ".join(f"'{kind}'" for kind in (*kinds, "null"))
        for column in columns:
            is_wrong = f"typeof({quoted(column)}) NOT IN ({accepted})"
            query = f"SELECT typeof({quoted(column)}), rowid {self._from} WHERE {is_wrong} LIMIT 1"
            for found, row in self._database.read(query):
                return self._database.damaged(
                    f"{self.name}.{column}: {found} in row {row}", " or ".join(kinds)
                )
        return self._database.damaged(f"rows of {self.name} are not those that were counted")

    def forget(self) -> None:
        """Free the columns read so far; later uses read them again."""
        self._read.clear()

    def _has_values(self, column: str) -> bool:
        """Return whether any row has a value in the column."""
        if not self.has(column):
            return False
        return bool(
            self._database.integer(f"SELECT EXISTS(SELECT 1 {self._from} WHERE {quoted(column)} IS NOT NULL)")
        )

    def reals(self, column: str) -> np.ndarray:
        """Return a real column (float64); NULL becomes NaN. Raise ProfileError for other values than numbers
        within 2^62."""
        if not self._has_values(column):
            return np.full(len(self), np.nan)
        values = (np.nan if value is None else value for (value,) in self._database.read(self.query(column)))
        try:
            found = np.array(array("d", values))
        except (TypeError, ValueError):
            raise self._wrong([column], ("real", "integer")) from None
        if (np.abs(found) > MAX_SUM).any():  # would not fit an integer
            raise self._database.damaged(f"{self.name}.{column} has numbers beyond 2^62", "smaller numbers")
        return found

    def text_column(self, column: str) -> Labels:
        """Return a text column. Integers in it are ids of StringIds; a blob is a text.

        Raise ProfileError for other values.
        """
        if not self._has_values(column):
            return Labels(np.broadcast_to(np.int64(-1), self._rows), [])
        found = self._database.read(self.query(column), lambda rows: label(map(itemgetter(0), rows)))
        if all(isinstance(name, str) for name in found.names):
            return found
        values: list[Any] = list(found.names)
        names = [
            self._strings.get(value, "") if isinstance(value, int) else as_text(value) for value in values
        ]
        if not all(isinstance(name, str) for name in names):
            raise self._wrong([column], ("text", "blob", "integer"))
        return Labels(found.codes, names).map(str)

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


class TableSource(Protocol):
    """The part of a Profile that the readers of its tables use."""

    path: Path
    name: str  # of the file, as text
    unread: dict[str, str]  # table that is not read -> the reason

    @property
    def event_types(self) -> dict[str, int]:
        """Name of an NVTX event type -> its value in NVTX_EVENTS.eventType."""

    @property
    def copy_kinds(self) -> dict[int, str]:
        """MEMCPY.copyKind -> label."""

    def lists(self, name: str) -> bool:
        """Return whether the file has the table, even an empty one."""

    def has(self, name: str) -> bool:
        """Return whether the file has the table with at least one row."""

    def table(self, name: str) -> Table:
        """Return a table. Raise MissingData if the file lacks it."""

    def require(self, *names: str) -> None:
        """Raise MissingData unless at least one of these tables has rows."""

    def missing(self, *names: str) -> MissingData:
        """Make the error for data that the file lacks."""
