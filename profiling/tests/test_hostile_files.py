# SPDX-License-Identifier: Apache-2.0
"""Files that nobody's recorder writes: every command ends with a result or one error, and soon.

Each case changes a complete profile, and every command reads it. The honest profile gives the expected statuses.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hostile_profile import COMMANDS, EVERY_NAME, EVIL, sql
from wirecell_profile.cli import main
from wirecell_profile.model import database

PAGE = 4096  # bytes of a page of SQLite
CONTROL = re.compile("[\0-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def replaced(table: str, by: str) -> Callable[[Path], None]:
    """Return the damage that replaces a table by something else."""
    return sql(f"ALTER TABLE {table} RENAME TO before", by)


def in_schema(table: str, row: str) -> Callable[[Path], None]:
    """Return the damage that replaces a table's row of the schema (type, name, tbl_name, rootpage, sql)."""
    statement = f"INSERT INTO sqlite_schema VALUES {row}"
    return sql("PRAGMA writable_schema = ON", f"DELETE FROM sqlite_schema WHERE name = '{table}'", statement)


def content(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    """Return the damage that changes the bytes of the file."""
    return lambda path: path.write_bytes(change(path.read_bytes())) and None


def special(make: Callable[[Path], object]) -> Callable[[Path], None]:
    """Return the damage that replaces the file by something else."""

    def damage(path: Path) -> None:
        path.unlink()
        make(path)

    return damage


def endless_pages(path: Path) -> None:
    """Let the pages of a table refer to one child again and again: a small file claims 10^12 rows."""
    sql(
        f"{FEW.format(4000)} INSERT INTO NVTX_EVENTS(start, end, eventType, text) SELECT i, i, 59, 'range' FROM n"
    )(path)
    with closing(sqlite3.connect(path)) as connection:
        query = "SELECT rootpage FROM sqlite_schema WHERE name = 'NVTX_EVENTS'"
        ((root,),) = connection.execute(query)
    data = bytearray(path.read_bytes())
    page = data[(root - 1) * PAGE : root * PAGE]
    cells = [int.from_bytes(page[12 + 2 * i : 14 + 2 * i]) for i in range(int.from_bytes(page[3:5]))]
    assert page[0] == 5 and len(cells) > 20  # inner page of a table
    leaf, count = int.from_bytes(page[cells[0] : cells[0] + 4]), len(data) // PAGE
    children = [*range(count + 1, count + 9), leaf]
    for child in children:
        for at in (8, *cells):
            page[at : at + 4] = child.to_bytes(4)
        if child == children[0]:
            data[(root - 1) * PAGE : root * PAGE] = page
        else:
            data += page
    data[28:32] = (len(data) // PAGE).to_bytes(4)
    path.write_bytes(data)


def interrupted_write(path: Path) -> None:
    """Leave a file in the middle of a transaction, with its journal."""
    other = path.with_name("other.sqlite")
    path.rename(other)
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("PRAGMA cache_size = 1")
        for table in ("NVTX_EVENTS", "StringIds", "SPNG_CALL", "CUPTI_ACTIVITY_KIND_KERNEL"):
            connection.execute(f"DELETE FROM {table}")
        shutil.copy(other, path)
        shutil.copy(f"{other}-journal", f"{path}-journal")


def unfinished_log(path: Path) -> None:
    """Leave committed rows in the write-ahead log."""
    other = path.with_name("other.sqlite")
    path.rename(other)
    with closing(sqlite3.connect(other)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("UPDATE NVTX_EVENTS SET text = 'only in the log' WHERE text = 'configure'")
        connection.commit()
        shutil.copy(other, path)
        shutil.copy(f"{other}-wal", f"{path}-wal")


FEW = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {})"
NEVER = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT"
LONG = "printf('%.*c', 1000000, 'x')"
SPAN = f"CREATE VIEW StringIds AS {NEVER} i AS id, 'x' AS value FROM n"
# name -> the damage, and a part of the error; None: every command ends as for the honest file
CASES: dict[str, tuple[Callable[[Path], None], str | None]] = {
    "honest": (lambda path: None, None),
    # values
    "blob": (sql("UPDATE SPNG_CALL SET rss = x'ff00'"), "SPNG_CALL.rss: blob in row 1\n  expected: integer"),
    "blob-id": (sql("UPDATE NVTX_EVENTS SET textId = x'00' WHERE rowid = 9"), "textId: blob in row 9"),
    "blob-text": (sql("UPDATE NVTX_EVENTS SET text = CAST(text AS BLOB) || x'e900'"), None),
    "blob-name": (sql("UPDATE StringIds SET value = CAST(value AS BLOB) || x'f09f9a'"), None),
    "blob-notes": (sql("UPDATE SPNG_RUN SET key = CAST(key AS BLOB), value = CAST(value AS BLOB)"), None),
    "long-id": (sql(f"UPDATE StringIds SET id = {LONG}"), "seen:     StringIds: ('xxx"),
    "blob-real": (sql("UPDATE SPNG_SAMPLE SET value = x'00'"), "SPNG_SAMPLE.value: blob in row 1"),
    "fraction": (sql("UPDATE NVTX_EVENTS SET start = start + 0.7"), "NVTX_EVENTS.start: real in row 1"),
    "digits": (
        sql("UPDATE SPNG_CALL SET start = CAST(CAST(start AS TEXT) AS BLOB)"),
        "SPNG_CALL.start: blob in row 1",
    ),
    "text-real": (
        sql("UPDATE SPNG_SAMPLE SET value = x'3132' WHERE rowid = 2"),
        "SPNG_SAMPLE.value: blob in row 2",
    ),
    "text": (sql("UPDATE SPNG_CALL SET start = 'x'"), "SPNG_CALL.start: text in row 1"),
    "infinite": (sql("UPDATE SPNG_CALL SET start = 9e999"), "SPNG_CALL.start: real in row 1"),
    "huge-real": (sql("UPDATE SPNG_CALL SET bytes_in = 1e300"), "SPNG_CALL.bytes_in: real in row 1"),
    "huge-sample": (sql("UPDATE SPNG_SAMPLE SET value = 1e300"), "SPNG_SAMPLE.value has numbers beyond 2^62"),
    "beyond-64-bits": (sql("UPDATE SPNG_CALL SET id = 99999999999999999999"), "SPNG_CALL.id: real"),
    "no-start": (sql("UPDATE NVTX_EVENTS SET start = NULL WHERE rowid = 9"), "NVTX_EVENTS.start is NULL"),
    "no-end": (sql("UPDATE SPNG_CALL SET end = NULL"), "SPNG_CALL.end is NULL"),
    "no-values": (sql("UPDATE SPNG_SAMPLE SET value = NULL"), None),
    "late": (sql(f"UPDATE NVTX_EVENTS SET end = {2**63 - 1}"), "NVTX_EVENTS.end has times beyond 2^61 ns"),
    "early": (sql(f"UPDATE SPNG_SAMPLE SET t = {-(2**63) + 1}"), "SPNG_SAMPLE.t has times beyond 2^61 ns"),
    "long": (
        sql(f"UPDATE NVTX_EVENTS SET end = {2**61}"),
        "the rows of NVTX_EVENTS last longer than 2^62 ns",
    ),
    "far-apart": (
        sql(
            f"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET start = start - {2**60}, end = end - {2**60}",
            f"UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET start = start + {2**60}, end = end + {2**60}",
        ),
        "events far apart, 2^62 ns in total",
    ),
    "negative": (sql("UPDATE NVTX_EVENTS SET end = start - 5 WHERE text = 'registered'"), None),
    "no-strings": (sql("DELETE FROM StringIds"), None),
    "string-twice": (sql("INSERT INTO StringIds SELECT id, 'again' FROM StringIds"), None),
    "not-utf-8": (
        sql(
            *(
                f"UPDATE {table} SET {column} = CAST(CAST({column} AS BLOB) || x'{damage}' AS TEXT)"
                for table, column in EVERY_NAME
                for damage in ("ff1b", "eda080", "f09f9a", "00", "c0af")  # surrogate, cut, NUL, overlong
            )
        ),
        None,
    ),
    "utf-16": (sql("UPDATE StringIds SET value = CAST(x'fffe61003fd8' AS TEXT)"), None),
    "not-utf-8-schema": (
        in_schema("SPNG_MSG", "('table', CAST(x'7fe9' AS TEXT), 'x', 2, CAST(x'6372e9617465' AS TEXT))"),
        "the profile is damaged",
    ),
    "long-names": (sql(f"UPDATE StringIds SET value = value || {LONG}"), None),
    "no-epoch": (
        sql(f"UPDATE TARGET_INFO_SESSION_START_TIME SET utcEpochNs = {2**62}"),
        "utcEpochNs has times",
    ),
    "no-integer": (sql("UPDATE SPNG_RUN SET value = 'x' WHERE key LIKE '%_ns'"), "SPNG_RUN."),
    "deep-json": (
        sql("UPDATE SPNG_RUN SET value = printf('%.*c', 100000, '[') WHERE key = 'settings'"),
        None,
    ),
    "open-quote": (
        sql(
            "DELETE FROM SPNG_RUN WHERE key = 'configuration_file'",
            "UPDATE SPNG_RUN SET value = '\"a' WHERE key = 'command_line'",
        ),
        None,
    ),
    "controls": (
        sql(*(f"UPDATE {table} SET {column} = {column} || '{EVIL}'" for table, column in EVERY_NAME)),
        None,
    ),
    # tables
    "view": (
        replaced("NVTX_EVENTS", "CREATE VIEW NVTX_EVENTS AS SELECT * FROM before"),
        "NVTX_EVENTS is a view",
    ),
    "endless-view": (replaced("StringIds", SPAN), "StringIds is a view\n  expected: a table"),
    "other-view": (sql(f"CREATE VIEW mine AS {NEVER} * FROM n"), None),
    "virtual-table": (
        in_schema(
            "SPNG_NODE",
            "('table', 'SPNG_NODE', 'SPNG_NODE', 0, 'CREATE VIRTUAL TABLE SPNG_NODE USING none')",
        ),
        "SPNG_NODE is a virtual table",
    ),
    "generated": (
        sql("ALTER TABLE SPNG_CALL ADD COLUMN slow AS (length(printf('%.*c', 100000000, 'x')))"),
        "SPNG_CALL has generated columns",
    ),
    "index": (sql("CREATE INDEX slow ON NVTX_EVENTS (abs(start) + 1, text)"), None),
    "trigger": (sql("CREATE TRIGGER t AFTER UPDATE ON SPNG_NODE BEGIN DELETE FROM StringIds; END"), None),
    "no-table": (sql("DROP TABLE SPNG_NODE", "DROP TABLE StringIds"), None),
    "no-column": (
        sql("ALTER TABLE SPNG_CALL DROP COLUMN start"),
        "note: run.sqlite: its table SPNG_CALL has no column start\n",
    ),
    "other-columns": (
        replaced("StringIds", "CREATE TABLE StringIds (a, b)"),
        "StringIds has no column id, value\n  expected: columns id and value",
    ),
    "odd-names": (
        sql(
            'CREATE TABLE "a""b; ../%s\x1b[2J" ("c"" FROM n" INTEGER)',
            'INSERT INTO "a""b; ../%s\x1b[2J" VALUES (1)',
        ),
        None,
    ),
    "no-rowid": (
        replaced("SPNG_NODE", "CREATE TABLE SPNG_NODE (id INTEGER PRIMARY KEY, type, name) WITHOUT ROWID"),
        "no such column: rowid",
    ),
    "no-schema": (in_schema("SPNG_NODE", "('table', x'00', 1, 'x', 'DROP')"), "the profile is damaged"),
    "many-tables": (
        sql(
            "PRAGMA writable_schema = ON",
            f"{FEW.format(10_000)} INSERT INTO sqlite_schema SELECT 'table', 't' || i, 't' || i, 2, "
            "'CREATE TABLE t' || i || '(a)' FROM n",
        ),
        "tables\n  expected: at most 2,000",
    ),
    # files
    "billion-rows": (endless_pages, "steps of SQLite in one table"),
    "truncated": (content(lambda data: data[: len(data) // 2]), "the profile is damaged"),
    "overwritten": (
        content(lambda data: data[:PAGE] + b"\xff" * (len(data) - PAGE)),
        "the profile is damaged",
    ),
    "encrypted": (
        content(lambda data: bytes(byte ^ 0x5A for byte in data)),
        "not a profile in SQLite format",
    ),
    "only-magic": (content(lambda data: data[:16]), "the profile is damaged"),
    "empty": (content(lambda data: b""), "seen:     an empty file"),
    "pipe": (special(os.mkfifo), "seen:     a folder, pipe or device"),
    "folder": (special(Path.mkdir), "seen:     a folder, pipe or device"),
    "device": (special(lambda path: path.symlink_to("/dev/zero")), "seen:     a folder, pipe or device"),
    "absent": (special(lambda path: None), "No such file or directory"),
    "log-mode": (sql("PRAGMA journal_mode = WAL"), None),
    "unfinished-log": (unfinished_log, None),
    "unfinished-write": (interrupted_write, "run.sqlite-journal is the journal of an unfinished write"),
}


def run_all(
    profile: Path, honest: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> list[tuple[str, int, str, str]]:
    """Run all commands; return command, status, output and errors of each."""
    folder.mkdir()
    found = []
    for line in COMMANDS:
        words = [word.format(f=profile, o=folder, h=honest) for word in line.split()]
        status = main(words)
        shown = capsys.readouterr()
        found.append((line, status, shown.out, shown.err))
    return found


@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("error")
def test_every_command_ends(
    case: str,
    honest: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    damage, expected = CASES[case]
    monkeypatch.setattr(database, "FREE_STEPS", 1_000_000)
    profile = tmp_path / "run.sqlite"
    shutil.copy(honest, profile)
    damage(profile)
    before = sorted(tmp_path.iterdir())
    found = run_all(profile, honest, tmp_path / "out", capsys)
    for line, status, out, errors in found:
        assert not CONTROL.search(out + errors), line
        assert len(errors) < 20_000 and (len(out) < 300_000 or " -f " in line), line
        if expected is None:
            assert status == 0, (line, errors)
        elif status:
            blocks = [text for text in errors.splitlines() if text.startswith("error: ")]
            assert status in (1, 2) and len(blocks) == 1, (line, errors)
    if expected is not None:
        assert any(expected in errors for *_, errors in found), [errors for *_, errors in found]
    # SQLite reads the log of a dead writer only with an index of it, NAME-shm.
    left = sorted(path for path in tmp_path.iterdir() if path.name not in ("out", "run.sqlite-shm"))
    assert left == before, "files beside the profile"


def test_a_recording_of_more_than_2_gib(honest: Path, tmp_path: Path) -> None:
    """SQLite counts the bytes of a value in 32 bits."""
    profile = tmp_path / "profile.sqlite"
    shutil.copy(honest, profile)
    os.truncate(profile, 5 << 29)  # takes no space on the disk
    assert main(["stats", str(profile), "-r", "nvtx_sum"]) == 0
