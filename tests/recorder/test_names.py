# SPDX-License-Identifier: Apache-2.0
"""Strings and names that a recording takes: any bytes from outside, valid UTF-8 in the file, nobody's files replaced."""

from __future__ import annotations

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.recorder import recorded
from tests.recorder.recorded import CATEGORY, DOMAIN, PUSH_POP, THREAD, Recorded, run
from tests.support import wire_cell

pytestmark = recorded.needs_recorder

SHOWN = r"p\xe9.sqlite"


def strings_of(path: Path) -> list[bytes]:
    """Return all strings of a database as they are stored."""
    with closing(sqlite3.connect(path)) as database:
        database.text_factory = bytes
        tables = [
            name.decode()
            for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        rows = (row for table in tables for row in database.execute(f"SELECT * FROM {table}"))
        return [value for row in rows for value in row if isinstance(value, bytes)]


def test_texts_of_any_encoding(program: Path, tmp_path: Path) -> None:
    """NVTX's strings, names of threads, folder, file, command line and environment: bytes that are not UTF-8 are spelled."""
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/d\xe9"))
    folder.mkdir()
    name = os.fsdecode(b"p\xe9.sqlite")
    words = ["encodings", os.fsdecode(b"word \xe9")]
    done = run(program, *words, folder=folder, record=name, OMP_NUM_THREADS=os.fsdecode(b"\xff"))
    assert done.stderr == f"SPNG recorder: wrote {SHOWN}\n"
    assert os.listdir(os.fsencode(folder)) == [b"p\xe9.sqlite"]
    copy = shutil.copy(folder / name, tmp_path / "copy.sqlite")
    for text in strings_of(copy):
        text.decode()
    file = Recorded(copy)
    assert [each.name for each in file.ranges(PUSH_POP)] == [
        r"d\xe9j",
        r"d\xe8j",
        r"cut \xf0\x9f\x9a",
        "\\xed\\xa0\\x80 \\xc0\\xaf \x1b[31m é",
        "w???波",
    ]
    kinds = {THREAD: r"main \xff", DOMAIN: r"domain \xe9", CATEGORY: r"category \xe9"}
    assert {kind: [each.name for each in file.ranges(kind)] for kind in kinds} == {
        kind: [text] for kind, text in kinds.items()
    }
    assert r"registered \xe9" in {text for (text,) in file.sql("SELECT value FROM StringIds")}
    noted = file.run()
    assert (noted["file"], noted["environment.OMP_NUM_THREADS"]) == (SHOWN, r"\xff")
    assert noted["working_folder"].endswith(r"/d\xe9")
    assert noted["command_line"].endswith(r"encodings 'word \xe9'")


def test_an_unfinished_recording_with_a_name_of_any_bytes(program: Path, tmp_path: Path) -> None:
    """Its file gets the name that was asked for, in the folder of the .part file."""
    name = os.fsdecode(b"p\xe9.sqlite")
    run(program, "end", "kill", folder=tmp_path, record=name, status=-9, spill="0.1")
    [part] = tmp_path.glob("*.part")
    assert wire_cell.run("--recover-record", part, folder=tmp_path.parent).returncode == 0
    assert os.listdir(os.fsencode(tmp_path)) == [b"p\xe9.sqlite"]


def foreign(path: Path, kind: str) -> None:
    """Write a file that is no recording."""
    if kind == "a database":
        with closing(sqlite3.connect(path)) as database:
            database.execute("CREATE TABLE mine (value)")
    elif kind == "an unfinished recording":
        with closing(sqlite3.connect(path)) as database:
            database.execute("CREATE TABLE SPNG_RUN (key, value)")
            database.execute("CREATE TABLE SPNG_OPEN (start)")
    elif kind == "a damaged database":
        path.write_bytes(b"SQLite format 3\0 and no more")
    else:
        path.write_text("results of a year\n")


KINDS = ["a text", "a database", "an unfinished recording", "a damaged database"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("linked", [False, True], ids=["file", "link"])
def test_a_recording_replaces_no_foreign_file(program: Path, tmp_path: Path, kind: str, linked: bool) -> None:
    """The program runs, without a recording; SPNG_RECORD_OVERWRITE=1 confirms."""
    out = tmp_path / "out.sqlite"
    target = tmp_path / "target" if linked else out
    foreign(target, kind)
    if linked:
        out.symlink_to(target)
    before = target.read_bytes()
    done = run(program, "ranges", "3", folder=tmp_path)
    assert "nothing is recorded: would replace" in done.stderr and "--overwrite" in done.stderr
    assert target.read_bytes() == before and len(list(tmp_path.iterdir())) == 1 + linked
    run(program, "ranges", "3", folder=tmp_path, overwrite="1")
    assert Recorded(target).run()["end"] == "exit" and out.is_symlink() == linked


def test_files_that_a_recording_may_replace(program: Path, tmp_path: Path) -> None:
    """An empty file and a recording, but no export of nsys."""
    out = tmp_path / "out.sqlite"
    out.touch()
    for _ in range(2):
        assert "wrote" in run(program, "ranges", "3", folder=tmp_path).stderr
    out.unlink()
    with closing(sqlite3.connect(out)) as database:
        database.execute("CREATE TABLE META_DATA_EXPORT (name, value)")
    before = out.read_bytes()
    assert "would replace" in run(program, "ranges", "3", folder=tmp_path).stderr
    assert out.read_bytes() == before


def test_a_foreign_file_that_appears_during_the_run(program: Path, tmp_path: Path) -> None:
    """The rows stay in the .part file."""
    done = run(program, "command", "echo mine > out.sqlite", folder=tmp_path)
    assert "would replace" in done.stderr
    [part] = tmp_path.glob("*.part")
    assert (tmp_path / "out.sqlite").read_text() == "mine\n"
    block = wire_cell.rejected("--recover-record", part, folder=tmp_path, status=1)
    assert "would replace" in block and part.exists()


def test_an_unfinished_recording_of_a_process_with_the_same_id(program: Path, tmp_path: Path) -> None:
    """Ids repeat in containers, where the program often has the id 1: the rows of the earlier run stay."""
    script = f"echo rows > out.sqlite.$$.part; exec {program} ranges 3"
    shell = tmp_path / "script.sh"
    shell.write_text(f"#!/bin/sh\n{script}\n")
    shell.chmod(0o755)
    assert "wrote out.sqlite" in run(shell, folder=tmp_path).stderr
    [part] = tmp_path.glob("*.part")
    assert part.read_text() == "rows\n"
