# SPDX-License-Identifier: Apache-2.0
"""An input whose events come one by one, for tests that end a job in mid-run: the job waits for most of the time."""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
import threading
import time
from pathlib import Path

from tests.support import wire_cell

SECONDS_BETWEEN_EVENTS = 0.1
EVENTS_TO_START = 6  # a job reads at most four events more than it has completed


class PacedInput:
    """A pipe, a .tar for its reader, into which a thread writes an event at a time until its reader is gone.

    written  events that the reader has got
    """

    def __init__(self, path: Path, arrays: wire_cell.Arrays, count: int) -> None:
        """Write the event 0 of `arrays` under the numbers below `count`."""
        os.mkfifo(path)
        self.written = 0
        self._path = path
        self._arrays = {name.rpartition("_")[0]: array for name, array in arrays.items()}
        self._count = count
        threading.Thread(target=self._feed, daemon=True).start()

    def wait_for_start(self, process: subprocess.Popen) -> None:
        """Wait until the job has completed an event."""
        deadline = time.monotonic() + 120
        while self.written < EVENTS_TO_START:
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.01)

    def _piece(self, ident: int) -> bytes:
        """An event without the blocks that end an archive."""
        stream = io.BytesIO()
        with tarfile.open(fileobj=stream, mode="w") as archive:
            for name, array in self._arrays.items():
                wire_cell.add_array(archive, f"{name}_{ident}", array)
            length = archive.offset
        return stream.getvalue()[:length]

    def _feed(self) -> None:
        try:
            with self._path.open("wb", buffering=0) as pipe:
                for ident in range(self._count):
                    pipe.write(self._piece(ident))
                    self.written += 1
                    time.sleep(SECONDS_BETWEEN_EVENTS)
                pipe.write(bytes(2 * tarfile.BLOCKSIZE))
        except BrokenPipeError:
            pass  # the job ended
