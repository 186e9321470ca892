# SPDX-License-Identifier: Apache-2.0
"""Damage profiles in SQLite format and run commands of wirecell-profile on them (see python_target.py).

Other files than SQLite databases, values of other types, and a schema that is a program: views, triggers, generated columns.
"""

from __future__ import annotations

import contextlib
import lzma
import os
import random
import sqlite3
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

from .python_target import ROOT, Target, change_bytes, main

PROFILING = Path(os.environ.get("SPNG_PROFILING", ROOT / "profiling"))
SEEDS = ("own-nsys.sqlite.xz",)
COMMANDS = ("summary", "stats -r all", "trace", "html", "export", "rules")

VALUES = (
    None,
    0,
    -1,
    1,
    2**31,
    2**53 + 1,
    2**63 - 1,
    -(2**63),
    0.5,
    1e308,
    -1e308,
    float("inf"),
    float("nan"),
    b"",
    b"\xff\x00\x01",
    "",
    "x",
    "1e999",
    "\x00",
    "\x1b[31m",
    "\udc80",
    "<script>alert(1)</script>",
    "a" * 100_000,
)


def quoted(name: str) -> str:
    """Return an identifier of SQL."""
    return '"' + name.replace('"', '""') + '"'


def tables(database: sqlite3.Connection) -> list[str]:
    """Return the names of the tables."""
    return [
        name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")
    ]


def columns(database: sqlite3.Connection, table: str) -> list[str]:
    """Return the names of the columns."""
    return [row[1] for row in database.execute(f"PRAGMA table_info({quoted(table)})")]


# Each takes the database, a table and the random numbers, and makes one change.


def set_value(database: sqlite3.Connection, table: str, chosen: random.Random) -> None:
    """Set one value, or all of a column."""
    column, value = chosen.choice(columns(database, table)), chosen.choice(VALUES)
    if value == "\udc80":  # no UTF-8
        expression, parameters = "CAST(x'80ff' AS TEXT)", ()
    else:
        expression, parameters = "?", (value,)
    where = "" if chosen.random() < 0.3 else f"WHERE rowid % 7 = {chosen.randrange(7)}"
    database.execute(f"UPDATE {quoted(table)} SET {quoted(column)} = {expression} {where}", parameters)


def copy_rows(database: sqlite3.Connection, table: str, chosen: random.Random) -> None:
    """Write rows twice."""
    rows = quoted(table)
    database.execute(f"INSERT OR IGNORE INTO {rows} SELECT * FROM {rows} LIMIT {chosen.randrange(1, 20)}")


def delete_rows(database: sqlite3.Connection, table: str, chosen: random.Random) -> None:
    """Delete some or all rows."""
    database.execute(f"DELETE FROM {quoted(table)} WHERE rowid % {chosen.randrange(1, 4)} = 0")


def drop_table(database: sqlite3.Connection, table: str, chosen: random.Random) -> None:
    """Drop a table."""
    database.execute(f"DROP TABLE {quoted(table)}")


def drop_column(database: sqlite3.Connection, table: str, chosen: random.Random) -> None:
    """Drop or rename a column."""
    column = quoted(chosen.choice(columns(database, table)))
    change = f"DROP COLUMN {column}" if chosen.random() < 0.5 else f"RENAME COLUMN {column} TO other"
    database.execute(f"ALTER TABLE {quoted(table)} {change}")


def as_view(database: sqlite3.Connection, table: str, chosen: random.Random) -> None:
    """Replace a table with a view: the same rows, their square, or rows without end."""
    names = columns(database, table)
    database.execute(f"ALTER TABLE {quoted(table)} RENAME TO kept")
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT "
    selection = chosen.choice(
        (
            "SELECT * FROM kept",
            "SELECT "
            + ", ".join(f"a.{quoted(name)}" for name in names)
            + " FROM kept a, kept b, kept c, kept d",
            endless + ", ".join(f"i AS {quoted(name)}" for name in names) + " FROM n",
            f"SELECT * FROM {quoted(table)}",
            "SELECT " + ", ".join(f"zeroblob(1000000000) AS {quoted(name)}" for name in names),
        )
    )
    database.execute(f"CREATE VIEW {quoted(table)} AS {selection}")


def add_program(database: sqlite3.Connection, table: str, chosen: random.Random) -> None:
    """Add a trigger, an index over an expression, or a generated column."""
    name = quoted(table)
    first = quoted(columns(database, table)[0])
    database.execute(
        chosen.choice(
            (
                f"CREATE TRIGGER t AFTER INSERT ON {name} BEGIN DELETE FROM {name}; END",
                f"CREATE INDEX i ON {name}(abs({first}))",
                f"ALTER TABLE {name} ADD COLUMN g GENERATED ALWAYS AS (hex(zeroblob(100000000)))",
                f"ALTER TABLE {name} ADD COLUMN g GENERATED ALWAYS AS ({first} + 1)",
            )
        )
    )


def change_schema(database: sqlite3.Connection, table: str, chosen: random.Random) -> None:
    """Write another text into the schema."""
    database.execute("PRAGMA writable_schema = ON")
    sql = chosen.choice(
        (
            "CREATE TABLE x(a)",
            "no SQL",
            "",
            None,
            f"CREATE VIRTUAL TABLE {quoted(table)} USING fts5(a)",
            f"CREATE TABLE {quoted(table)}({', '.join(f'c{i}' for i in range(500))})",
        )
    )
    database.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (sql, table))


CHANGES: tuple[Callable[[sqlite3.Connection, str, random.Random], None], ...] = (
    *(5 * (set_value,)),
    copy_rows,
    delete_rows,
    drop_table,
    drop_column,
    as_view,
    add_program,
    change_schema,
)


def change_content(path: Path, chosen: random.Random) -> None:
    """Make one to four changes by SQL. A change that the database does not allow is left out."""
    with contextlib.closing(sqlite3.connect(path)) as database:
        for _ in range(chosen.randrange(1, 5)):
            with contextlib.suppress(sqlite3.Error, UnicodeEncodeError, IndexError):
                chosen.choice(CHANGES)(database, chosen.choice(tables(database)), chosen)
        with contextlib.suppress(sqlite3.Error):
            database.commit()


@cache
def seeds() -> list[bytes]:
    """Return the profiles."""
    return [lzma.decompress((ROOT / "profiling/tests/data" / name).read_bytes()) for name in SEEDS]


def write_damaged(folder: Path, seed: int, index: int) -> tuple[Path, str]:
    """Write input `index` of a sequence; return it and its command."""
    chosen = random.Random(f"{seed} {index}")
    path = folder / f"profile-{seed}-{index}.sqlite"
    content = chosen.choice(seeds())
    by_bytes = chosen.random() < 0.3
    path.write_bytes(change_bytes(content, chosen) if by_bytes else content)
    if not by_bytes:
        change_content(path, chosen)
    return path, COMMANDS[index % len(COMMANDS)]


def run_here(command: str, path: Path, folder: Path) -> int:
    """Run a command in this process; return its status."""
    if str(PROFILING) not in sys.path:
        sys.path.insert(0, str(PROFILING))
    name, *options = command.split()
    if name in ("trace", "html", "export"):
        options += ["-o", str(folder / f"result-of-{name}")]
    from wirecell_profile import cli

    return cli.main([name, *options, str(path)])


def is_explained(status: int, errors: str, results: str) -> bool:
    """Tell whether a command ended with a result or an error block.

    Notes about the file may precede the block. Status 1 without an error: no report could be made, and each is listed with its
    reason.
    """
    block = "".join(line for line in errors.splitlines(True) if not line.startswith("note: "))
    is_listed = not block and ("does not apply" in results or "missing, not zero:" in results)
    return status == 0 or block.startswith(("error: ", "SKIPPED ")) or is_listed


TARGET = Target("profiles", "tests.fuzz.damaged_profiles", len(SEEDS), write_damaged, run_here, is_explained)

if __name__ == "__main__":
    sys.exit(main(TARGET, __doc__))
