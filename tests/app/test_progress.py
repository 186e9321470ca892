# SPDX-License-Identifier: Apache-2.0
"""Progress of a run: a line that is rewritten on a terminal, plain lines in a pipe, nothing unless asked for there."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import time
from pathlib import Path

import numpy as np
import pytest

from tests.support import wire_cell

pytestmark = wire_cell.needs_program

COPY = str(wire_cell.ROOT / "tests" / "app" / "jobs" / "copy.jsonnet")
ERASE = "\r\x1b[K"
PREPARING = "prepare FrameFileSource:in, 0:0"  # while the program waits for the pipe


def write_events(path: Path, count: int) -> None:
    """Write small events."""
    arrays: wire_cell.Arrays = {}
    for ident in range(count):
        arrays |= wire_cell.event(np.full((3, 8), 7, np.int16), np.arange(3), ident=ident)
    wire_cell.write_arrays(path, arrays)


class Terminal:
    """A run of wire-cell whose stderr is a terminal, and whose input is a pipe that the test fills."""

    def __init__(self, folder: Path, *words: str, columns: int = 100, **variables: str) -> None:
        self.pipe = folder / "pipe.npz"
        os.mkfifo(self.pipe)
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        environment = {name: value for name, value in os.environ.items() if name not in ("CI", "TERM")}
        command = [str(wire_cell.PROGRAM), COPY, "-A", "input=pipe.npz", "-A", "output=out.npz", *words]
        self.process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=theirs,
            preexec_fn=wire_cell.default_signals,
            env={**environment, "TERM": "xterm", **variables},
        )
        os.close(theirs)
        self.shown = ""

    def wait_for(self, text: str, seconds: float = 60) -> None:
        """Read the terminal until it has shown a text."""
        end = time.monotonic() + seconds
        while text not in self.shown:
            assert time.monotonic() < end and self._read(), self.shown

    def _read(self) -> bool:
        try:
            part = os.read(self.ours, 4096)
        except OSError:  # the other end is closed
            return False
        self.shown += part.decode()
        return bool(part)

    def fill(self, events: int) -> None:
        """Write events into the pipe."""
        write_events(self.pipe.with_name("adc.npz"), events)
        with open(self.pipe, "wb") as pipe:
            pipe.write(self.pipe.with_name("adc.npz").read_bytes())

    def finish(self, status: int = 0) -> str:
        """Read to the end; return stdout."""
        while self._read():
            pass
        os.close(self.ours)
        out = self.process.communicate(timeout=60)[0].decode()
        assert self.process.returncode == status, self.shown
        return out

    def screen(self) -> list[str]:
        """Return the lines that stay on the screen."""
        lines = [""]
        for part in re.split(r"(\r\n|\r\x1b\[K|\n)", self.shown):
            if part == ERASE:
                lines[-1] = ""
            elif part in ("\r\n", "\n"):
                lines.append("")
            else:
                lines[-1] += part
        return lines


def test_a_terminal_shows_one_line_and_nothing_stays(tmp_path: Path) -> None:
    """The line is shown before the first event, is erased before log lines, and at the end."""
    run = Terminal(tmp_path, "--tla-code", "nevents=3", "-l", "stderr", "-L", "info")
    run.wait_for(PREPARING)
    run.fill(5)
    table = run.finish()
    assert "\x1b[K" not in table and "\r" not in table
    shown = run.screen()
    assert shown[-1] == "" and not [line for line in shown if "prepare FrameFileSource" in line]
    assert sum(line.endswith(" done") for line in shown) == 3  # log lines, each whole
    assert all(line.startswith("[") for line in shown if line)


def test_a_line_is_cut_at_the_width_of_the_terminal(tmp_path: Path) -> None:
    run = Terminal(tmp_path, columns=20)
    run.wait_for("prepare FrameFileS")
    run.fill(1)
    run.finish()
    assert max(len(text) for text in run.shown.split(ERASE)) <= 19


def test_a_program_that_ends_at_once_leaves_no_line(tmp_path: Path) -> None:
    """The second signal ends it in a handler, while it waits for the pipe."""
    run = Terminal(tmp_path)
    run.wait_for(PREPARING)
    run.process.send_signal(signal.SIGINT)
    time.sleep(0.4)  # two signals at the same time are one
    run.process.send_signal(signal.SIGINT)
    run.finish(status=128 + signal.SIGINT)
    assert run.screen() == [""]


@pytest.mark.parametrize(
    "word, variables", [("--no-progress", {}), ("--strict", {"CI": "true"}), ("--strict", {"TERM": "dumb"})]
)
def test_terminals_without_progress(tmp_path: Path, word: str, variables: dict[str, str]) -> None:
    run = Terminal(tmp_path, word, **variables)
    time.sleep(1)
    run.fill(1)
    run.finish()
    assert run.shown == ""


def test_a_pipe_gets_plain_lines_if_asked(tmp_path: Path) -> None:
    """The last line has all events, those that failed among them, and no control characters."""
    write_events(tmp_path / "adc.npz", 4)
    job = (COPY, "-A", "input=adc.npz", "-A", "output=out.npz")
    assert wire_cell.run(*job, folder=tmp_path).stderr == ""
    done = wire_cell.run(*job, "--progress", folder=tmp_path)
    (line,) = done.stderr.splitlines()
    assert done.returncode == 0 and re.fullmatch(r"wire-cell: 4 events, \d+ events/s, 0:00", line), line
    with np.load(tmp_path / "adc.npz") as events:
        arrays = {name: events[name] for name in events.files if name != "channels_*_2"}
    np.savez(tmp_path / "adc.npz", **arrays)
    done = wire_cell.run(*job, "--progress", "--on-error", "skip", folder=tmp_path)
    assert re.match(r"wire-cell: 3 events, 1 failed, ", done.stderr), done.stderr
