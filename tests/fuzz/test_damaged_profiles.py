# SPDX-License-Identifier: Apache-2.0
"""wirecell-profile on damaged profiles: a few of them, always the same ones."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tests.fuzz import damaged_profiles

COUNT = 7 * len(damaged_profiles.COMMANDS)
SEED = 20261125


def test_commands_end_with_a_result_or_one_error(tmp_path: Path) -> None:
    failures = list(damaged_profiles.failures_of(COUNT, SEED, tmp_path))
    assert not failures, "\n".join(f"{failure.command}: {failure.reason}" for failure in failures)


def test_same_seed_gives_the_same_profile(tmp_path: Path) -> None:
    profiles = damaged_profiles.seeds()
    for index in range(20):
        for name in ("first", "second"):
            damaged_profiles.write_damaged(tmp_path / name, profiles, SEED, index)
        assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


def test_inputs_differ_from_the_profile_in_bytes_values_and_schema(tmp_path: Path) -> None:
    profiles = damaged_profiles.seeds()
    kinds = set()
    for index in range(200):
        path = tmp_path / str(index)
        damaged_profiles.write_damaged(path, profiles, SEED, index)
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
        ("bytearray(3 << 30)", "MemoryError"),
        ("import sys; sys.stderr.write('error: \\x1b[31m'); raise SystemExit(1)", "control characters"),
        ("import sys; sys.stderr.write('wrong'); raise SystemExit(1)", "no error block"),
        ("print('name \\u202e'); raise SystemExit(0)", "control characters"),
        ("raise SystemExit(1)", "no error block"),
        ("print('missing, not zero:'); raise SystemExit(1)", ""),
        ("", ""),
    ],
)
def test_each_kind_of_failure_is_found(
    code: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*_: object) -> int:
        exec(code)
        return 0

    monkeypatch.setattr(damaged_profiles, "run_here", run)
    found = damaged_profiles.run_in_child("summary", tmp_path / "profile", tmp_path)
    assert reason in found and bool(reason) == bool(found)
