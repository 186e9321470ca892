# SPDX-License-Identifier: Apache-2.0
"""Programs that stay loaded between files: wire-cell --files - reads a line for each file and answers with a line.

A program that fails, or is told to record, processes no other file. An idle program ends after a while, and with its worker.
"""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass

from .process import GRACE, die_with_parent, end_group

IDLE = 60.0  # seconds until an idle program ends


@dataclass(frozen=True)
class Answer:
    """The end of one file."""

    status: int  # exit status, negative for a signal
    said: str  # the program's messages about this file
    timed_out: bool = False


class Program:
    """A running program. One thread at a time may use it."""

    def __init__(self, command: list[str]) -> None:
        """Start the program. Raise OSError if it cannot be started."""
        self.command = command
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

    def run(self, arguments: dict[str, str], limit: float | None) -> Answer | None:
        """Process one file. Return None if the program had ended after an earlier file.

        limit: seconds after which the program is ended.
        """
        process = self._process
        assert process and process.stdin
        # Messages of a new program before its first file belong to that file.
        before = self._messages.seek(0, 2) if self._is_used else 0
        try:
            process.stdin.write(json.dumps(arguments) + "\n")
            process.stdin.flush()
        except BrokenPipeError:
            return None if self._is_used else Answer(process.wait(), self._said(before))
        try:
            line = self._lines.get(timeout=limit)
        except queue.Empty:
            end_group(process)
            return Answer(-1, self._said(before), timed_out=True)
        except BaseException:
            end_group(process)
            raise
        if line is None:
            return Answer(process.wait(), self._said(before))
        self._is_used = True
        answer = json.loads(line)
        return Answer(answer["status"], answer.get("error") or self._said(before))

    def _said(self, start: int) -> str:
        self._messages.seek(start)
        return self._messages.read().decode("utf-8", errors="replace")

    def close(self) -> None:
        """End the program: by the end of its list, then by signals."""
        process = self._process
        assert process and process.stdin
        with contextlib.suppress(OSError):
            process.stdin.close()
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            end_group(process)
        self._messages.close()


_lock = threading.Lock()
_idle: dict[Program, float] = {}  # and the time since when


def run(command: list[str], arguments: dict[str, str], limit: float | None, stays: bool) -> Answer:
    """Process one file by an idle program with this command, else by a new one.

    stays: keep the program for other files if it succeeds. Raise OSError if a program cannot be started.
    """
    while True:
        program = _take(command) or Program(command)
        answer = program.run(arguments, limit)
        if answer and answer.status == 0 and stays:
            _keep(program)
        else:
            program.close()
        if answer:
            return answer


def _take(command: list[str]) -> Program | None:
    """Return an idle program with this command; end those with other commands."""
    with _lock:
        found = next((program for program in _idle if program.command == command), None)
        others = [program for program in _idle if program.command != command]
        for program in [*others, *([found] if found else [])]:
            del _idle[program]
    for program in others:
        program.close()
    return found


def _keep(program: Program) -> None:
    with _lock:
        _idle[program] = time.monotonic()
    timer = threading.Timer(IDLE, _end_idle)
    timer.daemon = True
    timer.start()


def _end_idle() -> None:
    with _lock:
        ended = [program for program, since in _idle.items() if time.monotonic() - since >= IDLE]
        for program in ended:
            del _idle[program]
    for program in ended:
        program.close()
