# SPDX-License-Identifier: Apache-2.0
"""Signals in the start-up of a job; tests/app/test_command_line.py and tests/faults/test_run_faults.py send them later."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.support import figures, wire_cell
from tests.support.measured_runs import main_job, names
from tests.support.paced_input import PacedInput
from tests.support.small_site import Site

pytestmark = [wire_cell.needs_program, pytest.mark.reliability]

SECONDS_TO_STOP = 2.0
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGXCPU, signal.SIGUSR1)


@pytest.mark.parametrize(("engine", "seconds"), [("Pgrapher", 0.05), ("TbbFlow", 0.3)])
@pytest.mark.parametrize("sent", SIGNALS, ids=lambda sent: sent.name)
def test_in_the_start_up(
    site: Site, tmp_path: Path, sent: signal.Signals, engine: str, seconds: float
) -> None:
    """Before the handlers are installed the signal ends the process itself, which a shell reports as 128 + signal."""
    PacedInput(tmp_path / "adc.tar", site.busy_frames(1, 600), 10)
    words = main_job(*site.flags, input="adc.tar", engine=engine)
    with subprocess.Popen(
        [wire_cell.PROGRAM, *map(str, words)],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=wire_cell.default_signals,
    ) as process:
        time.sleep(seconds)
        begin = time.monotonic()
        process.send_signal(sent)
        assert process.wait(60) in (128 + sent, -sent)
    figures.note("time to the end [s]", time.monotonic() - begin)
    assert time.monotonic() - begin < SECONDS_TO_STOP
    assert set(names(tmp_path)) <= {"adc.tar", "out.npz"}
