# SPDX-License-Identifier: Apache-2.0
"""Programs that stay loaded between files: wire-cell --files - reads a line for each file and answers with a line.

A program processes no other file after a failure, a rejected result or a recording. An idle program ends after a while, with its
worker, and when the next file needs another program.
"""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from .process import GRACE, die_with_parent, end_group

IDLE = 60.0  # seconds until an idle program ends


@dataclass(frozen=True)
class Answer:
    """The end of one file."""

    status: int  # exit status, negative for a signal
    said: str  # the program's messages about this file
    timed_out: bool = False
    kind: str = ""  # of the program's error


class Program:
    """A running program. One thread at a time may use it."""

    def __init__(self, command: list[str], version: tuple[object, ...]) -> None:
        """Start the program. Raise OSError if it cannot be started."""
        self.command = command
        self.version = version
        self.is_ended = False
        self._messages = tempfile.TemporaryFile()  # noqa: SIM115  closed with the object
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._process: subprocess.Popen | None = None
        self._error: OSError | None = None
        self._is_used = False
        started = threading.Event()
        # The program dies with the thread that starts it, so this thread lives as long as the program.
        threading.Thread(target=self._work, args=(started,), name="wire-cell", daemon=True).start()
        started.wait()
        if self._error:
            raise self._error

    def _work(self, started: threading.Event) -> None:
        try:
            process = self._process = subprocess.Popen(
                self.command,
                cwd="/",  # names in the job must not depend on the folder of the worker
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._messages,
                text=True,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,
                preexec_fn=die_with_parent,
            )
        except OSError as error:
            self._error = error
            return
        finally:
            started.set()
        assert process.stdout
        for line in process.stdout:
            if line.startswith("{"):  # a wrapper of the program may print more
                self._lines.put(line)
        self._lines.put(None)
        process.wait()

    def run(self, arguments: dict[str, str], limit: float | None, stays: bool) -> Answer | None:
        """Process one file. Return None if the program had ended after an earlier file.

        limit: seconds after which the program is ended. stays: keep it running; otherwise wait for its end, at which it
        completes its recording, and return its exit status.
        """
        process = self._process
        assert process and process.stdin
        deadline = None if limit is None else time.monotonic() + limit
        # Messages of a new program before its first file belong to that file.
        before = self._messages.seek(0, 2) if self._is_used else 0
        try:
            process.stdin.write(json.dumps(arguments) + "\n")
            process.stdin.flush()
        except BrokenPipeError:
            return None if self._is_used else self._end(before, deadline)
        try:
            line = self._lines.get(timeout=limit)
        except queue.Empty:
            end_group(process)
            return Answer(-1, self._said(before), timed_out=True)
        except BaseException:
            end_group(process)
            raise
        try:
            answer = json.loads(line or "")
            status = answer["status"]
        except (ValueError, KeyError):  # no line, or half a line of a program that died
            return self._end(before, deadline)
        if status == 0 and not stays:
            return self._end(before, deadline)
        self._is_used = True
        return Answer(status, answer.get("error") or self._said(before), kind=answer.get("kind", ""))

    def _end(self, start: int, deadline: float | None) -> Answer:
        """End the list and wait for the end of the program; end it by signals at the deadline."""
        process = self._process
        assert process and process.stdin
        self.is_ended = True
        with contextlib.suppress(OSError):
            process.stdin.close()
        try:
            status = process.wait(None if deadline is None else max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            end_group(process)
            return Answer(-1, self._said(start), timed_out=True)
        return Answer(status, self._said(start))

    def _said(self, start: int) -> str:
        self._messages.seek(start)
        return self._messages.read().decode("utf-8", errors="replace")

    def close(self) -> None:
        """End the program: by the end of its list, then by signals."""
        self._end(0, time.monotonic() + GRACE)
        self._messages.close()


_lock = threading.Lock()
_idle: dict[Program, threading.Timer] = {}  # and the timer that ends it


@contextmanager
def run(
    command: list[str],
    arguments: dict[str, str],
    limit: float | None,
    stays: bool,
    version: tuple[object, ...] = (),
) -> Iterator[Answer]:
    """Process one file by an idle program with this command and version, else by a new one.

    stays: keep the program for other files if it succeeds and the caller's block, which checks the result, raises nothing.
    version: of the files behind the command; loaded programs of another version are ended. Raise OSError if a program cannot
    be started.
    """
    while True:
        program = _take(command, version) or Program(command, version)
        is_kept = False
        try:
            answer = program.run(arguments, limit, stays)
            if answer:
                yield answer
                is_kept = answer.status == 0 and not program.is_ended
                return
        finally:
            if is_kept:
                _keep(program)
            else:
                program.close()


def _take(command: list[str], version: tuple[object, ...]) -> Program | None:
    """Return an idle program with this command and version; end those with others."""
    with _lock:
        fitting = [program for program in _idle if (program.command, program.version) == (command, version)]
        others = [program for program in _idle if program not in fitting]
        for program in [*others, *fitting[:1]]:
            _idle.pop(program).cancel()
    for program in others:
        program.close()
    return fitting[0] if fitting else None


def _keep(program: Program) -> None:
    timer = threading.Timer(IDLE, _end_idle, [program])
    timer.daemon = True
    with _lock:
        _idle[program] = timer
    timer.start()


def _end_idle(program: Program) -> None:
    with _lock:
        is_idle = _idle.pop(program, None)
    if is_idle:
        program.close()
