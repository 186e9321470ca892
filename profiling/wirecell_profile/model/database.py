# SPDX-License-Identifier: Apache-2.0
"""Read-only access to the SQLite file of a profile. The file may come from anybody: nothing in it may run or
keep this program busy for ever."""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, overload
from urllib.parse import quote

from ..errors import ProfileError, system_error
from ..path_names import shell_word

Taken = TypeVar("Taken")

SQLITE_MAGIC = b"SQLite format 3\0"
WAL = (
    b"\x02\x02"  # versions of the format behind the magic and the page size, in files with a write-ahead log
)
# A row takes about 5 steps and, for each column, 3 more and at least one byte of the file.
STEPS_PER_BYTE, FREE_STEPS = 20, 10_000_000
STEPS_AT_ONCE = 100_000
# Endings of nsys's reports and of its other formats of export.
OTHER_FORMATS = {
    **dict.fromkeys((".nsys-rep", ".qdrep"), "a report of Nsight Systems"),
    ".qdstrm": "data that Nsight Systems has not made a report of",
    **dict.fromkeys(
        (
            ".json",
            ".jsonl",
            ".jsonlines",
            ".hdf",
            ".hdf5",
            ".h5",
            ".arrow",
            ".arrows",
            ".parquet",
            ".text",
            ".txt",
            ".info",
        ),
        "another format, such as nsys export --type json, hdf or text",
    ),
}
MIN_VALUE = 1 << 20  # bytes that a value may always have; larger values must fit the file
MAX_VALUE = 2**31 - 1  # as SQLite counts the bytes of a value
UTF8 = partial(str, encoding="utf-8", errors="replace")


def as_text(value: Any) -> Any:
    """Return a blob as text, with bytes that are not UTF-8 replaced; any other value as it is."""
    return UTF8(value) if isinstance(value, bytes) else value


def quoted(name: str) -> str:
    """Quote a name for SQL."""
    return '"' + name.replace('"', '""') + '"'


class Database:
    """An open file. Errors of SQLite become ProfileErrors that name the file."""

    def __init__(self, path: Path) -> None:
        """Open a file. Raise ProfileError if it cannot be read or is not in SQLite format."""
        self.path = path
        size, header = _size_and_header(path)
        real = path.resolve()
        # SQLite writes files beside one with a write-ahead log, unless the caller says that nothing changes it.
        unchanged = header.endswith(WAL) and not Path(f"{real}-wal").exists()
        uri = f"file:{quote(os.fsencode(real))}?mode=ro" + ("&immutable=1" if unchanged else "")
        self._steps = 0
        self._max_steps = FREE_STEPS + STEPS_PER_BYTE * size
        self._connection = sqlite3.connect(uri, uri=True)
        self._connection.text_factory = UTF8  # other programs write any encoding
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(max(size, MIN_VALUE), MAX_VALUE))
        self._connection.set_progress_handler(self._is_endless, STEPS_AT_ONCE)
        for pragma in ("trusted_schema = OFF", "query_only = ON"):
            self._connection.execute(f"PRAGMA {pragma}")

    @overload
    def read(self, query: str) -> list[tuple]: ...

    @overload
    def read(self, query: str, take: Callable[[Iterable[tuple]], Taken]) -> Taken: ...

    def read(self, query: str, take: Callable[[Iterable[tuple]], object] = list) -> object:
        """Run a query and return its rows, converted by `take`."""
        with self._errors():
            return take(self._connection.execute(query))

    def rows(self, query: str) -> Iterator[tuple]:
        """Run a query and yield its rows."""
        with self._errors():
            yield from self._connection.execute(query)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        self._steps = 0
        try:
            yield
        except (
            sqlite3.Error,
            UnicodeError,
        ) as error:  # the latter: in the text of an error, or a name of the schema
            if self._steps > self._max_steps:
                raise self.damaged(
                    f"more than {self._max_steps:,} steps of SQLite in one table",
                    "fewer, for the file's size",
                ) from None
            journal = Path(f"{self.path.resolve()}-journal")
            beside = f"; {journal.name} is the journal of an unfinished write" if journal.exists() else ""
            raise self.damaged(f"{error}{beside}") from None

    def integer(self, query: str) -> int:
        """Return the integer in the first column of a query's first row."""
        return self.read(query)[0][0]

    def damaged(self, seen: str, expected: str = "") -> ProfileError:
        """Make the error for content that no program writes."""
        return ProfileError("the profile is damaged", str(self.path), seen, expected, "record it again")

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _is_endless(self) -> bool:
        """Count steps. Steps rather than time, so that a result does not depend on the machine."""
        self._steps += STEPS_AT_ONCE
        return self._steps > self._max_steps


def start_of(path: Path, count: int) -> bytes:
    """Return the first bytes of a file. Raise OSError for a folder, pipe or device, which may have no end."""
    if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe would wait for its writer
        raise OSError(errno.EINVAL, "a folder, pipe or device")
    with path.open("rb") as file:
        return file.read(count)


def _how_to_export(path: Path) -> str:
    """Return the commands that make a profile of a file in another format of nsys."""
    report = path if path.suffix in (".nsys-rep", ".qdrep") else path.with_suffix(".nsys-rep")
    convert = (
        f"{shell_word(path)} with nsys's QdstrmImporter gives {report.name}; then "
        if path.suffix == ".qdstrm"
        else ""
    )
    return f"{convert}nsys export --type sqlite {shell_word(report)}"


def _size_and_header(path: Path) -> tuple[int, bytes]:
    """Return the size and the first bytes of a file. Raise ProfileError unless it is in SQLite format."""
    try:
        header = start_of(path, len(SQLITE_MAGIC) + 2 + len(WAL))
        size = path.stat().st_size
    except OSError as error:
        hint = "give the path of a recorded file"
        raise system_error("cannot read the profile", path, error, hint) from None
    if not header.startswith(SQLITE_MAGIC):
        seen = "an empty file" if not header else OTHER_FORMATS.get(path.suffix, "another format")
        raise ProfileError(
            "not a profile in SQLite format",
            str(path),
            seen,
            "a file of wire-cell --record, or nsys's export",
            _how_to_export(path) if header and path.suffix in OTHER_FORMATS else "",
        )
    return size, header
