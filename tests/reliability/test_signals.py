# SPDX-License-Identifier: Apache-2.0
"""Signals at several moments of a run: in the start-up and after some events, on both engines."""

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

SECONDS, SECOND_SIGNAL_SECONDS = 2.0, 0.5
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGXCPU, signal.SIGUSR1)
EVENTS = 60
KEEPS_AFTER = 12  # events of the input, of which some are certainly complete


@pytest.fixture(name="expected", scope="module")
def fixture_expected(site: Site) -> np.ndarray:
    """The output of an undisturbed run on the event of every job."""
    return site.job(site.busy_frames(1, 600), model="none")["frame_signal_0"]


def start(site: Site, folder: Path, **arguments: str) -> subprocess.Popen[str]:
    """Start a job on small events."""
    return subprocess.Popen(
        [wire_cell.PROGRAM, *map(str, main_job(*site.flags, input="adc.tar", **arguments))],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=wire_cell.default_signals,
    )


@pytest.mark.parametrize(
    ("engine", "seconds", "events"),
    [
        ("Pgrapher", 0.05, 0),
        ("TbbFlow", 0.3, 0),
        ("Pgrapher", 0, 1),
        ("TbbFlow", 0, 6),
        ("Pgrapher", 0, KEEPS_AFTER),
    ],
)
@pytest.mark.parametrize("sent", SIGNALS, ids=lambda sent: sent.name)
def test_one_signal(
    site: Site,
    expected: np.ndarray,
    tmp_path: Path,
    sent: signal.Signals,
    engine: str,
    seconds: float,
    events: int,
) -> None:
    """Every kept event is compared with that of an undisturbed run, and their count with the message. Before the handlers are
    installed the signal ends the process itself, which a shell reports as 128 + signal.
    """
    feeder = PacedInput(tmp_path / "adc.tar", site.busy_frames(1, 600), EVENTS)
    with start(site, tmp_path, engine=engine) as process:
        time.sleep(seconds)
        while feeder.written < events and process.poll() is None:
            time.sleep(0.005)
        begin = time.monotonic()
        process.send_signal(sent)
        _, errors = process.communicate(timeout=120)
    figures.note("time to the end [s]", time.monotonic() - begin)
    assert time.monotonic() - begin < SECONDS
    assert process.returncode == 128 + sent or (seconds and process.returncode == -sent), errors
    output = tmp_path / "out.npz"
    arrays = wire_cell.read_arrays(output) if output.exists() else {}
    frames = [array for name, array in arrays.items() if name.startswith("frame_")]
    told = re.search(r"after (\d+) completed events", errors)
    assert len(frames) == int(told[1] if told else 0) and len(frames) >= (events >= KEEPS_AFTER)
    assert all(np.array_equal(frame, expected) for frame in frames)
    assert set(names(tmp_path)) <= {"adc.tar", "out.npz"}


def test_second_signal(site: Site, tmp_path: Path) -> None:
    """It comes 0.2 s after the first, to a job that waits for ever for its input."""
    os.mkfifo(tmp_path / "adc.tar")
    with start(site, tmp_path) as process:
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 128 + signal.SIGINT
    figures.note("time to the end after the second signal [s]", time.monotonic() - begin)
    assert time.monotonic() - begin < SECOND_SIGNAL_SECONDS
