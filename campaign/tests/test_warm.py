# SPDX-License-Identifier: Apache-2.0
"""Tests of programs that stay loaded between files."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from campaign_support import Bench, is_alive
from test_publish import task_of
from wirecell_campaign import attempt, process, warm
from wirecell_campaign.layout import Layout
from wirecell_campaign.task import Outcome, Result, Task

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
    if word.startswith("end "):
        sys.exit(int(word.split()[1]))
    if word.startswith("print "):
        print(word.split(" ", 2)[2], end="", flush=True)
        os._exit(int(word.split()[1]))
    if word == "hang":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(60)
    status = 1 if word == "fail" else 0
    print(json.dumps({"status": status, "pid": os.getpid(), "error": "error: wrong" if status else ""}), flush=True)
    if status or word == "last":
        sys.exit(status)
    if word.startswith("finish "):
        sys.stdin.read()
        time.sleep(float(word.split()[1]))
        sys.exit(int(word.split()[2]))
"""


@pytest.fixture
def command(tmp_path: Path) -> Iterator[list[str]]:
    """A command of its own, and an end of the programs that the test leaves."""
    script = tmp_path / "program.py"
    script.write_text(PROGRAM, encoding="utf-8")
    yield [sys.executable, "-IS", str(script)]
    with pytest.raises(FileNotFoundError):
        run(["/no/such/program"], "")  # ends idle programs of other commands
    assert not warm._idle


def run(
    command: list[str], word: str, limit: float | None = None, stays: bool = True, version: str = ""
) -> warm.Answer:
    """Process one input; accept its result."""
    with warm.run(command, {"input": word}, limit, stays, (version,)) as answer:
        return answer


def idle() -> list[int]:
    """Return the process ids of the idle programs."""
    return [program._process.pid for program in warm._idle if program._process]


def test_a_program_processes_file_after_file(command: list[str]) -> None:
    assert run(command, "a") == warm.Answer(0, "about a\n")
    first = idle()
    assert run(command, "b", 60) == warm.Answer(0, "about b\n")
    assert len(first) == 1 and idle() == first


@pytest.mark.parametrize(
    "word, expected",
    [
        ("fail", warm.Answer(1, "error: wrong")),
        ("end 3", warm.Answer(3, "about end 3\n")),
        ("end 0", warm.Answer(0, "about end 0\n")),
        ('print 4 {"status": 0, "inp', warm.Answer(4, 'about print 4 {"status": 0, "inp\n')),
        ("print 5 {}", warm.Answer(5, "about print 5 {}\n")),
        ("die", warm.Answer(-9, "about die\n")),
    ],
)
def test_a_program_that_fails_or_ends_is_not_used_again(
    command: list[str], word: str, expected: warm.Answer
) -> None:
    assert run(command, "a").status == 0
    first = idle()
    assert run(command, word) == expected
    assert not idle() and not is_alive(first[0])
    assert run(command, "b") == warm.Answer(0, "about b\n")


def test_a_program_that_ended_while_idle_is_replaced(command: list[str]) -> None:
    assert run(command, "last").status == 0
    first = idle()
    while is_alive(first[0]):
        time.sleep(0.01)
    assert run(command, "b") == warm.Answer(0, "about b\n")
    assert idle() and idle() != first


def test_a_program_that_ignores_the_end_is_killed(
    command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "GRACE", 0.2)
    assert run(command, "a").status == 0
    first = idle()
    answer = run(command, "hang", 0.5)
    assert answer.timed_out and answer.said == "about hang\n"
    assert not is_alive(first[0])


def test_a_program_that_records_processes_one_file(command: list[str]) -> None:
    assert run(command, "a", stays=False).status == 0
    assert not idle()


@pytest.mark.parametrize("word, status", [("finish 0.5 0", 0), ("finish 0.5 3", 3)])
def test_the_exit_status_of_a_program_that_records_counts(
    command: list[str], word: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It completes its recording at its end, which may take longer than the end of another program."""
    monkeypatch.setattr(warm, "GRACE", 0.1)
    assert run(command, word, 60, stays=False) == warm.Answer(status, f"about {word}\n")


def test_the_end_of_a_program_that_records_is_limited(command: list[str]) -> None:
    assert run(command, "finish 60 0", 0.5, stays=False).timed_out


def test_a_program_of_another_version_is_replaced(command: list[str]) -> None:
    assert run(command, "a", version="1").status == 0
    first = idle()
    assert run(command, "b", version="2").status == 0
    assert idle() != first and not is_alive(first[0])


def test_a_program_whose_result_is_rejected_ends(command: list[str]) -> None:
    with pytest.raises(ValueError, match="bad"), warm.run(command, {"input": "a"}, None, stays=True):
        raise ValueError("bad")
    assert not idle()


def test_one_thread_waits_for_the_end_of_an_idle_program(command: list[str]) -> None:
    for _ in range(5):
        assert run(command, "a").status == 0
    deadline = time.monotonic() + 10
    while sum(isinstance(thread, threading.Timer) for thread in threading.enumerate()) > 1:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_an_idle_program_ends(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warm, "IDLE", 0.1)
    assert run(command, "a").status == 0
    first = idle()
    while idle() or any(map(is_alive, first)):
        time.sleep(0.01)


def test_a_program_that_cannot_start_says_so(tmp_path: Path) -> None:
    script = tmp_path / "wire-cell"
    script.write_text("#!/bin/sh\necho 'error while loading shared libraries' >&2\nexit 127\n")
    script.chmod(0o755)
    answer = run([str(script)], "a")
    assert answer == warm.Answer(127, "error while loading shared libraries\n")
    assert os.access(script, os.X_OK) and not idle()


# ---- attempts


@pytest.fixture
def task(bench: Bench) -> Iterator[Task]:
    """An attempt at a file, and an end of the programs that the test leaves."""
    bench.make(2)
    Layout(bench.output).make()
    yield task_of(bench, "f000.npz", "a")
    with pytest.raises(FileNotFoundError):
        run(["/no/such/program"], "")


def published(task: Task) -> list[int]:
    """Run an attempt that succeeds; return the process ids of the idle programs."""
    result = attempt.run_attempt(task)
    assert result.outcome in (Outcome.PUBLISHED, Outcome.LOST), result.block
    return idle()


def failed(task: Task) -> Result:
    """Run an attempt that fails; no idle program is left."""
    result = attempt.run_attempt(task)
    assert result.outcome is Outcome.FAILED and not idle()
    return result


def test_a_program_is_used_again_for_the_same_settings_only(bench: Bench, task: Task) -> None:
    first = published(task)
    assert len(first) == 1 and published(task) == first
    second = published(replace(task, settings="changed"))
    assert len(second) == 1 and second != first and not is_alive(first[0])


@pytest.mark.parametrize("is_new_file", [False, True])
def test_a_program_whose_file_changed_is_replaced(bench: Bench, task: Task, is_new_file: bool) -> None:
    first = published(task)
    state = bench.program.stat()
    if is_new_file:
        (bench.folder / "copy").write_bytes(bench.program.read_bytes())
        (bench.folder / "copy").chmod(0o755)
        (bench.folder / "copy").replace(bench.program)
        os.utime(bench.program, ns=(state.st_atime_ns, state.st_mtime_ns))
    else:
        os.utime(bench.program, (1, 1))
    assert published(task) != first and not is_alive(first[0])


def test_a_program_of_another_commit_ends(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_COMMIT", "older")
    assert "the worker has another program" in failed(task).block


@pytest.mark.parametrize("told", ["half", "nothing", "touch"])
def test_a_program_whose_output_is_rejected_ends(bench: Bench, task: Task, told: str) -> None:
    bench.make(1, told)
    failed(task)


def test_a_program_that_the_environment_asks_to_record_does_not_stay(
    task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPNG_RECORD", "")
    assert len(published(task)) == 1
    monkeypatch.setenv("SPNG_RECORD", "x")
    assert not published(task)


def test_a_profile_that_takes_longer_than_other_ends_is_kept(
    bench: Bench, task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warm, "GRACE", 0.05)
    assert not published(replace(task, record_profile=True))
    assert (bench.output / "profiles" / "f000.npz.sqlite").read_text() == "profile"


def test_an_attempt_without_the_requested_profile_fails(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAKE_NO_PROFILE", "1")
    assert "the program wrote no profile" in failed(replace(task, record_profile=True)).block
