# SPDX-License-Identifier: Apache-2.0
"""Damage profiles in SQLite format and run commands of wirecell-profile on them, each in a process of its own.

    python -m tests.fuzz.damaged_profiles --count 1000 --seed 1 --out out/fuzz
    python -m tests.fuzz.damaged_profiles --replay out/fuzz/profile-1-17.sqlite --command summary

Other files than SQLite databases, values of other types, and a schema that is a program: views, triggers, generated columns.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import lzma
import os
import random
import re
import resource
import signal
import sqlite3
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PROFILING = Path(os.environ.get("SPNG_PROFILING", ROOT / "profiling"))
SEEDS = ("own-nsys.sqlite.xz",)
COMMANDS = ("summary", "stats -r all", "memory", "trace", "html", "export", "rules")
PROCESSOR_SECONDS = 10  # of a command, which takes less than one on the whole profile
MEMORY_BYTES = 2 << 30
HIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")  # not for a terminal
DEFECT = 70  # status of a process that had an exception

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


@dataclass(frozen=True)
class Failure:
    """A command that ends otherwise than with a result or one readable error."""

    command: str
    reason: str
    file: Path


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


def change_bytes(content: bytes, chosen: random.Random) -> bytes:
    """Change bits, bytes and blocks of the file, or cut it; damage in the first page is as likely as behind it."""
    changed = bytearray(content)
    for _ in range(chosen.choice((1, 4, 16, 64))):
        at = chosen.randrange(chosen.choice((100, 4096, len(changed))))
        kind = chosen.randrange(4)
        if kind == 0:
            changed[at] ^= 1 << chosen.randrange(8)
        elif kind == 1:
            changed[at] = chosen.choice((0, 1, 0x7F, 0x80, 0xFF))
        elif kind == 2:
            changed[at : at + 4] = chosen.choice((b"\0\0\0\0", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff"))
        else:
            source = chosen.randrange(len(changed))
            block = changed[source : source + chosen.randrange(1, 512)]
            changed[at : at + len(block)] = block
    if chosen.random() < 0.2:
        del changed[len(changed) * chosen.randrange(64) // 64 :]
    return bytes(changed)


@cache
def seeds() -> list[bytes]:
    """Return the profiles."""
    return [lzma.decompress((ROOT / "profiling/tests/data" / name).read_bytes()) for name in SEEDS]


def write_damaged(path: Path, profiles: list[bytes], seed: int, index: int) -> None:
    """Write input `index` of a sequence."""
    chosen = random.Random(f"{seed} {index}")
    content = chosen.choice(profiles)
    by_bytes = chosen.random() < 0.3
    path.write_bytes(change_bytes(content, chosen) if by_bytes else content)
    if not by_bytes:
        change_content(path, chosen)


def run_here(command: str, path: Path, folder: Path) -> int:
    """Run a command in this process; return its status."""
    name, *options = command.split()
    if name in ("trace", "html", "export"):
        options += ["-o", str(folder / f"result-of-{name}")]
    from wirecell_profile import cli  # after the caller has set the path

    return cli.main([name, *options, str(path)])


def run_in_child(command: str, path: Path, folder: Path) -> str:
    """Run a command in a child with limits; return why it failed, or nothing."""
    output, printed = folder / "stderr", folder / "stdout"
    child = os.fork()
    if child == 0:
        status = DEFECT
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
            errors = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            # The caller, such as pytest, may have replaced the streams.
            sys.stderr = open(errors, "w", encoding="utf-8", errors="surrogateescape")
            sys.stdout = open(printed, "w", encoding="utf-8", errors="surrogateescape")
            os.dup2(errors, 2)
            status = run_here(command, path, folder)
        except SystemExit as end:
            status = int(end.code or 0)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    written = [path.read_text(encoding="utf-8", errors="replace") for path in (output, printed)]
    return reason_of(status, *written)


def reason_of(status: int, errors: str, results: str) -> str:
    """Return why a command failed; nothing for a result and for an error block."""
    if status in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"no end within {PROCESSOR_SECONDS} s of processor time"
    if status < 0:
        return f"signal {-status}"
    if "Traceback" in errors or status not in (0, 1):
        lines = [line.strip() for line in errors.splitlines() if line.strip()]
        position = next((line for line in reversed(lines) if line.startswith("File ")), "")
        return f"{lines[-1] if lines else f'status {status}'} ({position})"
    for text in (errors, results):
        if found := HIDDEN.search(text):
            return "control characters in the output: " + repr(text[max(0, found.start() - 100) :][:200])
    # Status 1 without an error: no report could be made, and each is listed with its reason.
    is_listed = not errors and ("does not apply" in results or "missing, not zero:" in results)
    is_explained = status == 0 or errors.startswith(("error: ", "SKIPPED ")) or is_listed
    return "" if is_explained else "no error block: " + errors[:200]


def failures_of(count: int, seed: int, folder: Path, first: int = 0) -> Iterator[Failure]:
    """Run inputs `first` to `first + count`, each with one command; yield those that fail."""
    if str(PROFILING) not in sys.path:
        sys.path.insert(0, str(PROFILING))
    profiles = seeds()
    for index in range(first, first + count):
        path = folder / f"profile-{seed}-{index}.sqlite"
        write_damaged(path, profiles, seed, index)
        content = path.read_bytes()
        command = COMMANDS[index % len(COMMANDS)]
        reason = run_in_child(command, path, folder)
        if reason:
            path.write_bytes(content)
            yield Failure(command, reason, path)
        else:
            path.unlink()


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seconds", type=float, help="instead of --count")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("out/fuzz"))
    parser.add_argument("--replay", type=Path)
    parser.add_argument("--command", default=COMMANDS[0])
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    sys.path.insert(0, str(PROFILING))
    if options.replay:
        with tempfile.TemporaryDirectory() as folder:
            return run_here(options.command, options.replay, Path(folder))
    found: dict[str, dict[str, Any]] = {}  # by reason
    inputs, begin = 0, time.monotonic()
    while inputs < options.count if options.seconds is None else time.monotonic() - begin < options.seconds:
        for failure in failures_of(1, options.seed, options.out, inputs):
            print(f"FAILED {failure.command}: {failure.reason}\n  {failure.file}", file=sys.stderr)
            replay = f"{sys.executable} -m tests.fuzz.damaged_profiles --command '{failure.command}' --replay {failure.file}"
            first = {"reason": failure.reason, "file": str(failure.file), "count": 0, "replay": replay}
            found.setdefault(re.sub(r"\d", "", failure.reason), first)["count"] += 1
        inputs += 1
    report = {"target": "profiles", "inputs": inputs, "seconds": time.monotonic() - begin}
    report |= {"corpus_files": len(SEEDS), "results": 0, "peak_bytes": 0, "failures": list(found.values())}
    print(json.dumps(report))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
