# SPDX-License-Identifier: Apache-2.0
"""Signals at several moments of a run; tests/app/test_command_line.py and tests/faults/test_run_faults.py send more kinds."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest

from tests.support import figures, wire_cell
from tests.support.measured_runs import main_job, names
from tests.support.paced_input import PacedInput
from tests.support.small_site import Site

pytestmark = [wire_cell.needs_program, pytest.mark.reliability]

SECONDS, SECONDS_OF_SECOND = 2.0, 0.5  # to the end after a signal, and after a second one
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGXCPU, signal.SIGUSR1)
EVENTS = 60
KEPT_AFTER = 12  # events of the input, of which some are certainly complete


@pytest.fixture(name="event", scope="module")
def fixture_event(site: Site) -> wire_cell.Arrays:
    """An event with a track."""
    return site.busy_frames(1, 600)


@pytest.fixture(name="expected", scope="module")
def fixture_expected(site: Site, event: wire_cell.Arrays) -> np.ndarray:
    """The signal of an undisturbed run."""
    return site.job(event, model="none")["frame_signal_0"]


def start(site: Site, folder: Path, engine: str) -> subprocess.Popen:
    """Start the main job on adc.tar."""
    words = main_job(*site.flags, input="adc.tar", engine=engine)
    return subprocess.Popen(
        [wire_cell.PROGRAM, *map(str, words)],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=wire_cell.default_signals,
    )


def seconds_to_end(process: subprocess.Popen, sent: signal.Signals) -> tuple[float, str]:
    """Send a signal; return the time to the end and the messages."""
    begin = time.monotonic()
    process.send_signal(sent)
    _, errors = process.communicate(timeout=60)
    return time.monotonic() - begin, errors


@pytest.mark.parametrize(
    ("engine", "moment"),
    [("Pgrapher", 0.05), ("TbbFlow", 0.3), ("Pgrapher", 1), ("TbbFlow", 6), ("Pgrapher", KEPT_AFTER)],
)
@pytest.mark.parametrize("sent", SIGNALS, ids=lambda sent: sent.name)
def test_completed_events_are_kept(
    site: Site,
    event: wire_cell.Arrays,
    expected: np.ndarray,
    tmp_path: Path,
    sent: signal.Signals,
    engine: str,
    moment: float | int,
) -> None:
    """So many seconds after the start, in which the signal may end the process itself before the handlers are installed (a
    shell reports that as 128 + signal), or after so many events of the input.
    """
    is_start_up = isinstance(moment, float)
    feeder = PacedInput(tmp_path / "adc.tar", event, EVENTS)
    with start(site, tmp_path, engine) as process:
        time.sleep(moment if is_start_up else 0)
        while not is_start_up and feeder.written < moment and process.poll() is None:
            time.sleep(0.005)
        seconds, errors = seconds_to_end(process, sent)
    figures.note("time to the end [s]", seconds)
    assert process.returncode == 128 + sent or (is_start_up and process.returncode == -sent), errors
    assert seconds < SECONDS
    assert set(names(tmp_path)) <= {"adc.tar", "out.npz"}
    output = tmp_path / "out.npz"
    arrays = wire_cell.read_arrays(output) if output.exists() else {}
    kept = [array for name, array in arrays.items() if name.startswith("frame_")]
    told = re.search(r"after (\d+) completed events", errors)
    assert len(kept) == int(told[1] if told else 0) and (kept or moment < KEPT_AFTER), errors
    for each in kept:
        np.testing.assert_array_equal(each, expected)


def test_second_interrupt(site: Site, tmp_path: Path) -> None:
    """It ends a job that waits for ever for its input."""
    os.mkfifo(tmp_path / "adc.tar")
    with start(site, tmp_path, "Pgrapher") as process:
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        time.sleep(0.4)
        seconds, errors = seconds_to_end(process, signal.SIGINT)
    figures.note("time to the end after a second one [s]", seconds)
    assert process.returncode == 128 + signal.SIGINT, errors
    assert seconds < SECONDS_OF_SECOND
