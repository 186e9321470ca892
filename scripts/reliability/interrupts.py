# SPDX-License-Identifier: Apache-2.0
"""R12: signals at several moments of a run."""

from __future__ import annotations

import os
import re
import signal
import time
from pathlib import Path

import numpy as np

from scripts.output import Table
from tests.support import wire_cell
from tests.support.paced_input import PacedInput

from .row import Outcome, judge
from .work import Ended, Work, collect, names, start

SECONDS = 2.0
SECOND_SIGNAL_SECONDS = 0.5
EVENTS = 60
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGXCPU, signal.SIGUSR1)
# Moments: in the start-up [s], and after so many events of the input.
START_UP, AFTER_EVENTS = (0.05, 0.3), (1, 6, 12)
KEEPS_AFTER = 12  # events of the input, of which some are certainly complete


def stopped(work: Work, folder: Path, engine: str, sent: signal.Signals, moment: float | int) -> Ended:
    """Send a signal to a job; return its end, counted from the signal."""
    feeder = PacedInput(folder / "adc.tar", work.event, EVENTS)
    process = start(work.small_job(input="adc.tar", engine=engine), folder)
    with process:
        if isinstance(moment, float):
            time.sleep(moment)
        while isinstance(moment, int) and feeder.written < moment and process.poll() is None:
            time.sleep(0.005)
        process.send_signal(sent)
        return collect(process)


def kept_events(path: Path, expected: np.ndarray) -> tuple[int, int]:
    """Return how many events a file holds, and how many of them are not equal to the expected one."""
    if not path.exists():
        return 0, 0
    frames = [array for name, array in wire_cell.read_arrays(path).items() if name.startswith("frame_")]
    return len(frames), sum(not np.array_equal(each, expected) for each in frames)


def signals(work: Work) -> Outcome:
    """Measure R12."""
    expected = work.site.job(work.event, model="none")["frame_signal_0"]
    moments: tuple[float | int, ...] = (
        (*START_UP, *AFTER_EVENTS) if not work.is_quick else (START_UP[1], AFTER_EVENTS[1])
    )
    rows, misses, slowest = [], [], 0.0
    for sent in SIGNALS[: work.choose(len(SIGNALS), 2)]:
        times, statuses, kept, count = [], set(), 0, 0
        for index, moment in enumerate(moments):
            engine = ("Pgrapher", "TbbFlow")[index % 2]
            folder = work.new(f"{sent.name}-{moment}")
            case = f"{sent.name} {f'at {moment} s' if isinstance(moment, float) else f'after {moment} events'}, {engine}"
            done = stopped(work, folder, engine, sent, moment)
            times.append(done.wall_s)
            found, wrong = kept_events(folder / "out.npz", expected)
            told = re.search(r"after (\d+) completed events", done.errors)
            kept, count = kept + found, count + 1
            # Before the handlers are installed the signal ends the process itself, which a shell reports as 128 + signal.
            statuses.add(done.status)
            if done.status != 128 + sent and not (isinstance(moment, float) and done.status == -sent):
                misses.append(f"{case}: status {done.status} instead of {128 + sent}")
            if wrong or found != int(told[1] if told else 0):
                misses.append(
                    f"{case}: {found} events are kept, {wrong} of them wrong, the message says {told and told[1]}"
                )
            if isinstance(moment, int) and moment >= KEEPS_AFTER and not found:
                misses.append(f"{case}: no event is kept")
            if left := [name for name in names(folder) if name not in ("adc.tar", "out.npz")]:
                misses.append(f"{case}: leaves {', '.join(left)}")
            if done.wall_s > SECONDS:
                misses.append(f"{case}: {done.wall_s:.2f} s instead of {SECONDS:g} s")
        slowest = max(slowest, *times)
        rows.append(
            [
                sent.name,
                ", ".join(map(str, sorted(statuses))),
                str(count),
                f"{max(times):.2f}",
                f"{np.median(times):.2f}",
                str(kept),
            ]
        )
    second = second_signal(work)
    if second > SECOND_SIGNAL_SECONDS:
        misses.append(f"second SIGINT: {second:.2f} s instead of {SECOND_SIGNAL_SECONDS:g} s")
    return judge(
        f"at most {slowest:.2f} s to the end in {sum(int(row[2]) for row in rows)} runs; second SIGINT: {second:.2f} s",
        misses,
        f"Small events, one each 0.1 s through a pipe, on Pgrapher and TbbFlow in turn; signals {' s, '.join(map(str, START_UP))} s after the "
        f"start, and when {', '.join(map(str, AFTER_EVENTS))} events were given.\n"
        f"Every kept event is compared with that of an undisturbed run, and their count with the message.\n"
        "The second SIGINT comes 0.2 s after the first, to a job that waits for ever for its input.",
        [
            Table(
                "Signals",
                ["signal", "status", "runs", "slowest end [s]", "median [s]", "events kept"],
                rows,
            )
        ],
    )


def second_signal(work: Work) -> float:
    """Return the seconds in which a second SIGINT ends a job that waits for its input."""
    folder = work.new("second")
    os.mkfifo(folder / "adc.tar")
    with start(work.small_job(input="adc.tar"), folder) as process:
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        done = collect(process)
    if done.status != 128 + signal.SIGINT:
        raise RuntimeError(f"second SIGINT: status {done.status}")
    return done.wall_s
