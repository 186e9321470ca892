# SPDX-License-Identifier: Apache-2.0
"""A wire-cell --serve of the tests."""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.support import wire_cell

SECONDS = 120  # for a start or an end


@dataclass
class Server:
    """A process that serves."""

    process: subprocess.Popen[str]
    addresses: list[str] = field(default_factory=list)
    models: list[str] = field(default_factory=list)

    @property
    def address(self) -> str:
        return self.addresses[0]

    def end(self, signal_id: int = signal.SIGTERM) -> tuple[int, str]:
        """Ask it to end; return status and stderr."""
        self.process.send_signal(signal_id)
        _, messages = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, messages


def begin(*words: str | Path, addresses: list[str], folder: Path) -> Server:
    """Start a server and wait until it listens."""
    command = [str(wire_cell.PROGRAM), *map(str, words)]
    for address in addresses:
        command += ["--serve", address]
    process = subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=wire_cell.default_signals,
    )
    server = Server(process)
    assert process.stdout is not None
    while len(server.addresses) < len(addresses):
        line = process.stdout.readline()
        if not line:
            _, messages = process.communicate(timeout=SECONDS)
            raise AssertionError(f"no server: {messages}")
        found = re.fullmatch(r"serving (.+) at (\S+)\n", line)
        assert found, line
        server.models = found[1].split(", ")
        server.addresses.append(found[2])
    return server


@contextmanager
def serving(*words: str | Path, addresses: list[str], folder: Path) -> Iterator[Server]:
    """Serve during a block."""
    server = begin(*words, addresses=addresses, folder=folder)
    try:
        yield server
    finally:
        if server.process.poll() is None:
            server.process.kill()
            server.process.communicate(timeout=SECONDS)
