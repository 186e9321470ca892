# SPDX-License-Identifier: Apache-2.0
"""Read-only access to the SQLite file of a profile."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar, overload
from urllib.parse import quote

from ..errors import ProfileError

Taken = TypeVar("Taken")


class Database:
    """An open file. Errors of SQLite become ProfileErrors that name the file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._connection = sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=ro", uri=True)

    @overload
    def read(self, query: str) -> list[tuple]: ...

    @overload
    def read(self, query: str, take: Callable[[Iterable[tuple]], Taken]) -> Taken: ...

    def read(self, query: str, take: Callable[[Iterable[tuple]], object] = list) -> object:
        """Run a query and return its rows, converted by `take`."""
        try:
            return take(self._connection.execute(query))
        except sqlite3.DatabaseError as error:
            raise ProfileError(
                "the profile is damaged", str(self.path), str(error), hint="record it again"
            ) from None

    def integer(self, query: str) -> int:
        """Return the integer in the first column of a query's first row."""
        return self.read(query)[0][0]

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
