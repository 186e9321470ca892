# SPDX-License-Identifier: Apache-2.0
"""wirecell-profile on damaged profiles: a few of them, always the same ones."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from tests.fuzz import python_target
from tests.fuzz.damaged_profiles import COMMANDS, TARGET

COUNT = 7 * len(COMMANDS)
SEED = 20261125


def test_commands_end_with_a_result_or_one_error(tmp_path: Path) -> None:
    failures = list(python_target.failures_of(TARGET, COUNT, SEED, tmp_path))
    assert not failures, "\n".join(f"{failure.command}: {failure.reason}" for failure in failures)


def test_same_seed_gives_the_same_profile(tmp_path: Path) -> None:
    for index in range(20):
        first, second = (TARGET.write(tmp_path, SEED, index)[0].read_bytes() for _ in range(2))
        assert first == second


def test_inputs_differ_from_the_profile_in_bytes_values_and_schema(tmp_path: Path) -> None:
    kinds = set()
    for index in range(200):
        path, _ = TARGET.write(tmp_path, SEED, index)
        try:
            with sqlite3.connect(path) as database:
                kinds |= {kind for (kind,) in database.execute("SELECT type FROM sqlite_master")}
        except (sqlite3.Error, UnicodeDecodeError):
            kinds.add("no database")
    assert kinds >= {"table", "view", "trigger", "index", "no database"}


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("raise ValueError('defect')", "ValueError: defect"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", "signal 15"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGXCPU)", "no end within"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGALRM)", "no end within"),
        ("bytearray(3 << 30)", "MemoryError"),
        ("import sys; sys.stderr.write('error: \\x1b[31m'); raise SystemExit(1)", "control characters"),
        ("import sys; sys.stderr.write('wrong'); raise SystemExit(1)", "no error block"),
        ("print('name \\u202e'); raise SystemExit(0)", "control characters"),
        ("raise SystemExit(1)", "no error block"),
        ("import sys; sys.stderr.write('note: a\\nwrong'); raise SystemExit(1)", "no error block"),
        ("import sys; sys.stderr.write('note: a\\nerror: b'); raise SystemExit(1)", ""),
        ("print('missing, not zero:'); raise SystemExit(1)", ""),
        ("", ""),
    ],
)
def test_each_kind_of_failure_is_found(code: str, reason: str, tmp_path: Path) -> None:
    def run(*_: object) -> int:
        exec(code)
        return 0

    target = replace(TARGET, run=run)
    found = python_target.run_in_child(target, "summary", tmp_path / "profile", tmp_path)
    assert reason in found and bool(reason) == bool(found)
