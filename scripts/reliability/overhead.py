# SPDX-License-Identifier: Apache-2.0
"""R17: cost of ranges and timers, start-up, and processes that share a slot."""

from __future__ import annotations

import fcntl
import json
import shutil
import sqlite3
import statistics
import time
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from bench.programs import benchmark_entries
from scripts.output import Table
from tests.support import wire_cell

from .repetition import succeeded
from .row import Outcome, judge
from .work import Ended, Work, collect, main_job, run, start

RANGES_BAR, TIMERS_BAR, START_UP_BAR = 0.005, 0.01, 3.0
PROCESSES = 4
HOLDING_S = 0.01
NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}


def costs(program: Path) -> dict[str, float]:
    """Return the processor time of each benchmark of a program [ns], the median of three."""
    times: dict[str, list[float]] = {}
    for entry in benchmark_entries(program, "", 3, {}, 0.05):
        name = entry["run_name"].partition("/iterations")[0]
        times.setdefault(name, []).append(entry["cpu_time"] * NS[entry["time_unit"]])
    return {name: statistics.median(values) for name, values in times.items()}


def jobs(work: Work) -> dict[str, Any]:
    """Run the default event several times; return processor time of an event [ns], and its counts of ranges, calls and operators."""
    folder = work.new("event")
    events = 4
    samples, channels, start_ns = wire_cell.default_adc()
    arrays: wire_cell.Arrays = {}
    for ident in range(events):
        arrays |= wire_cell.event(samples, channels, ident, start_ns=start_ns)
    wire_cell.write_arrays(folder / "adc.tar", arrays)
    succeeded(run(["--timing", "t.json", *main_job(input="adc.tar")], folder))
    report = json.loads((folder / "t.json").read_text(encoding="utf-8"))
    # Nodes inside of another node's call would count twice; the first event has one-time work.
    calls = [call for node in report["nodes"] for call in node["per_call"] if call["event"] not in (None, 0)]
    later = events - 1
    cpu = sum(call["cpu_ns"] for call in calls if call["depth"] == 0) / later
    operators = sum(call["leaf_operations"] for call in calls) / later
    counts = []
    for count in (1, events):
        words = main_job(input="adc.tar", nevents=count)
        succeeded(run(["--record", f"{count}.sqlite", "--record-what", "nvtx,calls", *words], folder))
        with closing(sqlite3.connect(folder / f"{count}.sqlite")) as file:
            counts.append(file.execute("SELECT COUNT(*) FROM NVTX_EVENTS").fetchone()[0])
    return {
        "cpu_ns": cpu,
        "calls": len(calls) / later,
        "operators": operators,
        "ranges": (counts[1] - counts[0]) / later,
    }


def start_up(work: Work) -> tuple[list[float], float, float]:
    """Return the times to the first node [s]: wall times and median processor time with the network, least wall time without."""
    folder, processor = work.new("start-up"), []
    walls: dict[str, list[float]] = {"default": [], "none": []}
    for _ in range(work.choose(7, 3)):
        for model, found in walls.items():
            words = main_job(input=wire_cell.default_input(), model=model, threads=0)
            done = succeeded(run(["--timing", "t.json", *words], folder))
            report = json.loads((folder / "t.json").read_text(encoding="utf-8"))
            found.append(report["run"]["startup_seconds"])
            if model == "default":
                nodes = sum(
                    call["cpu_ns"]
                    for node in report["nodes"]
                    for call in node["per_call"]
                    if call["depth"] == 0
                )
                background = sum(report["run"]["background_cpu_ns"].values())
                processor.append(done.cpu_s - (nodes + background) / 1e9)
    return walls["default"], statistics.median(processor), min(walls["none"])


def holders(folder: Path) -> set[str]:
    """Return the ids of the processes that hold a reservation: those that keep its file locked."""
    found = set()
    for path in folder.glob("*/*-holding.reservation"):
        try:
            with path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            found.add(path.name.split("-")[1])
        except FileNotFoundError:
            pass  # given back meanwhile
    return found


def share_a_slot(work: Work, kill: bool) -> tuple[list[Ended], int, float]:
    """Run four jobs that share one slot; kill the first holder if asked. Return the ends, the most holders seen, and the time."""
    folder = work.new(f"share-{kill}")
    share = folder / "reservations"
    share.mkdir()
    (share / "limits").write_text("slots 1\n", encoding="utf-8")
    wire_cell.write_arrays(folder / "adc.npz", work.site.busy_frames(3, 6000))
    begin, max_holders, killed = time.monotonic(), 0, False
    with ExitStack() as stack:
        processes = []
        for index in range(PROCESSES):
            words = work.small_job(output=f"{index}.npz", share=share, memory_budget="1GB")
            processes.append(stack.enter_context(start(words, folder)))
        while any(
            Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
            for process in processes
        ):
            if time.monotonic() - begin > 120:
                break
            now = holders(share)
            max_holders = max(max_holders, len(now))
            if kill and not killed and now:
                victim = next(process for process in processes if str(process.pid) in now)
                victim.kill()
                killed = True
            time.sleep(HOLDING_S)
        ended = [collect(process, 1) for process in processes]
    shutil.rmtree(share)
    return ended, max_holders, time.monotonic() - begin


def percent(share: float) -> str:
    """Return a share in percent with one digit, of small ones its power of ten."""
    return f"{100 * share:.1g} %"


def overhead(work: Work) -> Outcome:
    """Measure R17."""
    misses = []
    range_costs, timer_costs = (
        costs(work.build / "bench" / name) for name in ("recorder_bench", "instrument_bench")
    )
    event = jobs(work)
    per_range = max(
        range_costs["no_tool/node_range"],
        range_costs["no_tool/step_range"],
        timer_costs["idle_asynchronous_range"],
    )
    ranges = event["ranges"] * per_range / event["cpu_ns"]
    per_operator = timer_costs["addition_in_a_call"]
    per_call = timer_costs["empty_call/process_clock"]
    timers = (event["calls"] * per_call + event["operators"] * per_operator) / event["cpu_ns"]
    walls, processor, without = start_up(work)
    wall = min(walls)
    rows = [
        ["range, no tool", f"{event['ranges']:.0f}", f"{per_range:.1f}", percent(ranges)],
        [
            "node call, metered",
            f"{event['calls']:.0f}",
            f"{per_call:.0f}",
            percent(event["calls"] * per_call / event["cpu_ns"]),
        ],
        [
            "operator, counted",
            f"{event['operators']:.0f}",
            f"{per_operator:.0f}",
            percent(event["operators"] * per_operator / event["cpu_ns"]),
        ],
    ]
    if ranges > RANGES_BAR:
        misses.append(f"ranges: {ranges:.2%} instead of {RANGES_BAR:.1%}")
    if timers > TIMERS_BAR:
        misses.append(f"timers: {timers:.2%} instead of {TIMERS_BAR:.0%}")
    if wall > START_UP_BAR:
        misses.append(f"start-up: {wall:.1f} s instead of {START_UP_BAR:g} s")
    shared = []
    for kill in (False, True):
        ended, max_holders, seconds = share_a_slot(work, kill)
        statuses = sorted(done.status for done in ended)
        shared.append(
            [
                "one killed by SIGKILL" if kill else "all run to their end",
                ", ".join(map(str, statuses)),
                str(max_holders),
                f"{seconds:.1f}",
            ]
        )
        if statuses != [*([-9] if kill else []), *([0] * (PROCESSES - kill))] or max_holders != 1:
            misses.append(f"{shared[-1][0]}: statuses {shared[-1][1]}, {max_holders} held the slot at once")
    return judge(
        f"ranges {percent(ranges)}, timers {percent(timers)}; start-up {wall:.2f} s (median {statistics.median(walls):.2f} s, {processor:.2f} s of "
        f"processor time; model=none {without:.2f} s); "
        f"{PROCESSES} processes with one slot end in {shared[0][3]} s, in {shared[1][3]} s with one killed",
        misses,
        f"Ranges and timers: counts in a later default event (model=none, {event['cpu_ns'] / 1e6:.0f} ms of processor time) times the "
        "processor time of one, by `build/bench/recorder_bench` and `build/bench/instrument_bench`.\n"
        "Operators are counted also without `--timing`; their cost is that of an addition of one element with its count, so an upper limit.\n"
        f"Start-up: wall time from the start of the program to its first node, the least of {len(walls)} runs, because other programs only "
        "lengthen it; files are in the system's page cache.",
        [
            Table("Instrumentation", ["", "in an event", "cost [ns]", "share of the event"], rows),
            Table(
                f"{PROCESSES} processes, one slot",
                ["", "statuses", "most holders at once", "time [s]"],
                shared,
            ),
        ],
    )
