# SPDX-License-Identifier: Apache-2.0
"""R13: little memory and lost devices."""

from __future__ import annotations

import json
import re
import resource
from collections.abc import Callable
from typing import Any

import numpy as np

from scripts.output import Table
from tests.support import cuda_simulator, wire_cell

from .devices import is_simulated
from .row import NO_DEVICE, Outcome, Verdict
from .work import Work, main_job, names, run

MAX_RETRIES = 3
RESTART = re.compile(r"restart (\d+) of \d+")


def budget(work: Work, rows: list[list[str]], misses: list[str]) -> str:
    """Compare the run with the smallest accepted budget with the free one."""
    folder = work.new("budget")
    given: dict[str, Any] = {"input": wire_cell.default_input(), "model": "default"}
    free = run(["--timing", "free.json", *main_job(output="free.npz", **given)], folder)
    impossible = run(main_job(memory_budget="50MB", **given), folder)
    found = re.search(r"at least ([\d.]+) (\w+)", impossible.errors)
    message = "; ".join(re.findall(r"^(?:error|  seen|  expected): +(.*)", impossible.errors, re.MULTILINE))
    rows.append(["budget of 50 MB", str(impossible.status), message])
    if impossible.status != 2 or found is None or (folder / "out.npz").exists():
        misses.append(f"impossible budget: status {impossible.status}")
        return "the smallest budget is not known"
    smallest = found[1] + found[2]
    done = run(
        ["--timing", "small.json", *main_job(output="small.npz", memory_budget=smallest, **given)], folder
    )
    if free.status or done.status:
        misses.append(f"the smallest budget, {smallest}: status {done.status}")
        return "the run with the smallest budget fails"
    is_same = (folder / "free.npz").read_bytes() == (folder / "small.npz").read_bytes()
    peaks = [
        json.loads((folder / name).read_text(encoding="utf-8"))["run"]["host_tensor_peak_bytes"] / 1e6
        for name in ("free.json", "small.json")
    ]
    rows.append(
        [
            f"budget of {smallest}, the smallest",
            str(done.status),
            f"{'same' if is_same else 'other'} bytes; tensors took {peaks[1]:.0f} MB instead of {peaks[0]:.0f} MB",
        ]
    )
    if not is_same:
        misses.append("the smallest budget: other bytes")
    return f"smallest budget ({smallest}): {'same' if is_same else 'other'} bytes"


def address_space(limit: int) -> Callable[[], None]:
    """Return a function that limits the address space of a new process."""

    def apply() -> None:
        wire_cell.default_signals()
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    return apply


def out_of_memory(work: Work, rows: list[list[str]], misses: list[str]) -> str:
    """Run the default event with less and less address space."""
    restarts, complete, ended = 0, 0, 0
    limits = range(600, 1501, 50) if not work.is_quick else (900, 1500)
    expected = (work.folder / "budget" / "free.npz").read_bytes()
    for limit in limits:
        folder = work.new(f"limit{limit}")
        words = main_job(input=wire_cell.default_input(), model="default")
        done = run(words, folder, before=address_space(limit * 1_000_000))
        restarts = max([restarts, *map(int, RESTART.findall(done.errors))])
        is_same = done.status == 0 and (folder / "out.npz").read_bytes() == expected
        text = "same bytes" if is_same else error_of(done.errors)
        rows.append([f"address space of {limit} MB", str(done.status), text])
        complete, ended = complete + is_same, ended + (done.status == 1)
        # Out of memory, and not an error that the user should report.
        if not is_same and (done.status != 1 or names(folder) or "memory" not in text):
            misses.append(f"address space of {limit} MB: status {done.status}, {text}")
    if restarts > MAX_RETRIES:
        misses.append(f"{restarts} restarts of an event instead of {MAX_RETRIES}")
    return (
        f"address space of {limits[0]} to {limits[-1]} MB: {complete} of {len(limits)} runs complete with the same bytes, {ended} end with "
        f"status 1, at most {restarts} restarts of an event"
    )


def error_of(errors: str) -> str:
    """Return the first line of the error block and what it saw, or the last line without a block."""
    found = re.findall(r"^(?:error:|  seen:) +(.*)", errors, re.MULTILINE)
    return ": ".join(found)[:200] or (errors.strip().splitlines() or ["no message"])[-1][:200]


def lost_devices(work: Work, rows: list[list[str]], misses: list[str]) -> str:
    """Lose devices and memory of the simulator at several moments."""
    folder = work.new("devices")
    events, ticks = 3, 400
    wire_cell.write_arrays(folder / "adc.npz", work.site.busy_frames(events, ticks))
    cpu = wire_cell.job(folder, *work.site.flags, input="adc.npz", model="none", threads=1)
    expected = {name: array for name, array in cpu.items() if name.startswith("frame_")}

    def simulated(arguments: dict[str, Any], **settings: Any) -> tuple[cuda_simulator.Run, int, int]:
        """Return the run, and its numbers of events and of wrong events."""
        (folder / "cuda.npz").unlink(missing_ok=True)
        given = {"overlap_files": "false", **arguments}
        job = cuda_simulator.job(folder, work.site.flags, given, emulate=0, **settings)
        output = wire_cell.read_arrays(folder / "cuda.npz") if (folder / "cuda.npz").exists() else {}
        frames = {name: array for name, array in output.items() if name.startswith("frame_")}
        wrong = sum(not np.array_equal(array, expected[name]) for name, array in frames.items())
        return job, len(frames), wrong

    def series(
        name: str, statuses: tuple[int, ...], runs: list[tuple[dict[str, Any], dict[str, Any]]]
    ) -> int:
        kept, bad, wrong_events, seen = 0, 0, 0, set()
        for arguments, settings in runs:
            job, count, wrong = simulated(arguments, **settings)
            lines = [line for line in job.done.stderr.splitlines() if line.startswith("error: ")]
            is_good = (
                job.done.returncode in statuses and not wrong and len(lines) == (job.done.returncode != 0)
            )
            is_good = is_good and (job.done.returncode != 0 or count == events)
            seen.add(job.done.returncode)
            kept, bad, wrong_events = kept + count, bad + (not is_good), wrong_events + wrong
        text = (
            f"{len(runs)} runs, {kept} of {events * len(runs)} events complete, {wrong_events} of them wrong; "
            f"{bad} wrong ends"
        )
        rows.append([name, ", ".join(map(str, sorted(seen))), text])
        if bad:
            misses.append(f"{name}: {bad} of {len(runs)} runs end wrong")
        return len(runs)

    alone: dict[str, Any] = {"events_in_flight": 1}
    launches = simulated(alone)[0].report.kernels()
    step = work.choose(12, 2)
    points = [1 + (launches - 2) * point // step for point in range(step)]
    two = {"device": "cuda:0,cuda:1", "engine": "TbbFlow"}
    sizes = (2, 8, 12, 16, 20, 24, 32, 48) if not work.is_quick else (8, 24)
    count = series("the only device is lost", (1,), [(alone, {"lost_after": point}) for point in points])
    count += series(
        "one of two devices is lost",
        (0,),
        [(two, {"lost_after": point // 2, "lost_device": 1}) for point in points],
    )
    count += series(
        "a device has less memory than it says",
        (0, 1),
        [
            ({**alone, **mode}, {"memory_mb": size, "memory_seen_mb": 80_000})
            for size in sizes
            for mode in ({}, {"cuda_graph": "on"})
        ],
    )
    return f"simulated devices: {count} losses of devices and memory"


def little_memory(work: Work) -> Outcome:
    """Measure R13."""
    rows: list[list[str]] = []
    misses: list[str] = []
    figures = [budget(work, rows, misses), out_of_memory(work, rows, misses)]
    if is_simulated():
        figures.append(lost_devices(work, rows, misses))
    gap = f"on a device: {NO_DEVICE}, {'simulated only' if is_simulated() else 'and the simulator is not built'}"
    return Outcome(
        "; ".join(figures),
        Verdict.SHORT if misses else Verdict.PART,
        "; ".join([*misses, gap]),
        "The default event with the network on the CPU, in tiles that the budget allows; lost devices on the "
        "[simulated CUDA runtime](decisions/cuda-simulator.md), compared to the byte with the CPU.\n"
        "A budget that is too small is an error of the configuration, status 2; memory that ends in the run is status 1.",
        [Table("Cases", ["case", "status", "outcome"], rows, words=3)],
    )
