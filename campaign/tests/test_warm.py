# SPDX-License-Identifier: Apache-2.0
"""Tests of programs that stay loaded between files."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from campaign_support import is_alive
from wirecell_campaign import process, warm

# Answers with its process id; the input says how it ends.
PROGRAM = """
import json, os, signal, sys, time
print("a line of a wrapper", flush=True)
for line in sys.stdin:
    word = json.loads(line)["input"]
    sys.stderr.write(f"about {word}\\n")
    sys.stderr.flush()
    if word == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    if word == "end":
        sys.exit(3)
    if word == "hang":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(60)
    status = 1 if word == "fail" else 0
    print(json.dumps({"status": status, "pid": os.getpid(), "error": "error: wrong" if status else ""}), flush=True)
    if status or word == "last":
        sys.exit(status)
"""


@pytest.fixture
def command(tmp_path: Path) -> Iterator[list[str]]:
    """A command of its own, and an end of the programs that the test leaves."""
    script = tmp_path / "program.py"
    script.write_text(PROGRAM, encoding="utf-8")
    yield [sys.executable, "-IS", str(script)]
    with pytest.raises(FileNotFoundError):
        warm.run(["/no/such/program"], {}, None, stays=True)  # ends idle programs of other commands
    assert not warm._idle


def idle() -> list[int]:
    """Return the process ids of the idle programs."""
    return [program._process.pid for program in warm._idle if program._process]


def test_a_program_processes_file_after_file(command: list[str]) -> None:
    assert warm.run(command, {"input": "a"}, None, stays=True) == warm.Answer(0, "about a\n")
    first = idle()
    assert warm.run(command, {"input": "b"}, 60, stays=True) == warm.Answer(0, "about b\n")
    assert len(first) == 1 and idle() == first


@pytest.mark.parametrize(
    "word, expected",
    [
        ("fail", warm.Answer(1, "error: wrong")),
        ("end", warm.Answer(3, "about end\n")),
        ("die", warm.Answer(-9, "about die\n")),
    ],
)
def test_a_program_that_fails_is_not_used_again(command: list[str], word: str, expected: warm.Answer) -> None:
    assert warm.run(command, {"input": "a"}, None, stays=True).status == 0
    first = idle()
    assert warm.run(command, {"input": word}, None, stays=True) == expected
    assert not idle() and not is_alive(first[0])
    assert warm.run(command, {"input": "b"}, None, stays=True) == warm.Answer(0, "about b\n")


def test_a_program_that_ended_while_idle_is_replaced(command: list[str]) -> None:
    assert warm.run(command, {"input": "last"}, None, stays=True).status == 0
    first = idle()
    while is_alive(first[0]):
        time.sleep(0.01)
    assert warm.run(command, {"input": "b"}, None, stays=True) == warm.Answer(0, "about b\n")
    assert idle() and idle() != first


def test_a_program_that_ignores_the_end_is_killed(
    command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "GRACE", 0.2)
    assert warm.run(command, {"input": "a"}, None, stays=True).status == 0
    first = idle()
    answer = warm.run(command, {"input": "hang"}, 0.5, stays=True)
    assert answer.timed_out and answer.said == "about hang\n"
    assert not is_alive(first[0])


def test_a_program_that_records_processes_one_file(command: list[str]) -> None:
    assert warm.run(command, {"input": "a"}, None, stays=False).status == 0
    assert not idle()


def test_an_idle_program_ends(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm, "IDLE", 0.1)
    assert warm.run(command, {"input": "a"}, None, stays=True).status == 0
    first = idle()
    while idle() or any(map(is_alive, first)):
        time.sleep(0.01)


def test_a_program_that_cannot_start_says_so(tmp_path: Path) -> None:
    script = tmp_path / "wire-cell"
    script.write_text("#!/bin/sh\necho 'error while loading shared libraries' >&2\nexit 127\n")
    script.chmod(0o755)
    answer = warm.run([str(script)], {"input": "a"}, None, stays=True)
    assert answer == warm.Answer(127, "error while loading shared libraries\n")
    assert os.access(script, os.X_OK) and not idle()
