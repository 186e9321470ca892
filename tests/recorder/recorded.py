# SPDX-License-Identifier: Apache-2.0
"""Compile the annotated program, run it under the recorder, and read the recording with plain SQL."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support import wire_cell

RECORDER = wire_cell.PROGRAM.parents[1] / "lib" / "libSpngRecorder.so"
SOURCE = Path(__file__).with_name("annotated_program.cxx")

needs_recorder = pytest.mark.skipif(
    not RECORDER.exists(), reason=f"{RECORDER} is not built (--with-nvtx, SQLite)"
)

MARK, PUSH_POP, START_END, CATEGORY, THREAD, DOMAIN = 34, 59, 60, 33, 39, 75


def cuda_include() -> Path | None:
    """Return the folder with NVTX's headers that the build found."""
    header = wire_cell.ROOT / "build" / "include" / "spng" / "build_info.h"
    found = (
        re.search(r'cuda_include = "([^"]+)"', header.read_text(encoding="utf-8"))
        if header.exists()
        else None
    )
    return Path(found[1]) if found and (Path(found[1]) / "nvtx3").is_dir() else None


def compile_program(folder: Path) -> Path:
    """Compile the program, and beside it the library that it may load; skip the test if that is not possible."""
    compiler, include = shutil.which(os.environ.get("CXX", "g++")), cuda_include()
    if compiler is None or include is None:
        pytest.skip("no compiler or no NVTX headers")
    program = folder / "annotated"
    for target, options in (
        (program, ["-pthread"]),
        (folder / "library.so", ["-shared", "-fPIC", "-DAS_LIBRARY"]),
    ):
        subprocess.run(
            [compiler, "-std=c++20", "-O1", f"-I{include}", *options, str(SOURCE), "-o", str(target), "-ldl"],
            check=True,
            timeout=120,
        )
    return program


def run(
    program: Path,
    *arguments: str,
    record: str | None = "out.sqlite",
    folder: Path,
    status: int = 0,
    limits: Any = None,
    **variables: str,
) -> subprocess.CompletedProcess:
    """Run under the recorder, with SPNG_RECORD=`record` and SPNG_RECORD_<NAME>=value for each of `variables`."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("SPNG_", "NVTX_", "NSYS_"))
    }
    environment["NVTX_INJECTION64_PATH"] = str(RECORDER)
    if record is not None:
        environment["SPNG_RECORD"] = record
    environment |= {
        name if name.isupper() and "_" in name else f"SPNG_RECORD_{name.upper()}": value
        for name, value in variables.items()
    }

    def prepare() -> None:
        wire_cell.default_signals()
        if limits is not None:
            limits()

    done = subprocess.run(
        [program, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        preexec_fn=prepare,
    )
    assert done.returncode == status, (done.returncode, done.stderr)
    return done


class Range(NamedTuple):
    """A row of NVTX_EVENTS with its name resolved."""

    start: int
    end: int | None
    kind: int
    name: str
    thread: int
    domain: int


class Recorded:
    """A finished recording."""

    def __init__(self, path: Path) -> None:
        assert path.exists(), (
            f"no recording {path.name} among {sorted(each.name for each in path.parent.iterdir())}"
        )
        self._database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        assert self.sql("PRAGMA integrity_check") == [("ok",)]

    def sql(self, text: str) -> list[tuple]:
        """Return all rows of a query."""
        return self._database.execute(text).fetchall()

    def run(self) -> dict[str, str]:
        """Return the manifest."""
        return dict(self.sql("SELECT key, value FROM SPNG_RUN"))

    def tables(self) -> dict[str, list[str]]:
        """Return the columns of each table."""
        names = [name for (name,) in self.sql("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: [row[1] for row in self.sql(f"PRAGMA table_info({name})")] for name in names}

    def ranges(self, kind: int | None = None) -> list[Range]:
        """Return the rows of NVTX_EVENTS in the order of the file."""
        rows = self.sql(
            "SELECT start, end, eventType, COALESCE(text, (SELECT value FROM StringIds WHERE id = textId)), "
            "globalTid & 0xFFFFFF, domainId FROM NVTX_EVENTS"
        )
        return [Range(*row) for row in rows if kind in (None, row[2])]

    def diagnostics(self) -> str:
        """Return the messages of SPNG_DIAG, one per line."""
        return "\n".join(
            f"{severity}: {text}" for severity, text in self.sql("SELECT severity, text FROM SPNG_DIAG")
        )
