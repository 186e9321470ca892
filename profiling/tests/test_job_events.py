# SPDX-License-Identifier: Apache-2.0
"""Events of the job: (process, index) is their key, the first is that of index 0, and cut ones have no latency."""

from __future__ import annotations

import lzma
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from synthetic import START_END, Synthetic
from wirecell_profile import cli
from wirecell_profile.compare.comparison import check_events
from wirecell_profile.compare.readers import read_runs
from wirecell_profile.compare.time_rows import steady
from wirecell_profile.errors import MissingData, UsageError
from wirecell_profile.export.chrome_trace import track_of
from wirecell_profile.html.counters import make_counters
from wirecell_profile.html.overview import charts, tiles
from wirecell_profile.model.profile import Profile
from wirecell_profile.model.selection import Scope, Selection
from wirecell_profile.model.window import Window, find_window
from wirecell_profile.tables import memory_use, node_use
from wirecell_profile.tables.timeline import timeline

OWN = Path(__file__).parent / "data" / "own-nsys.sqlite.xz"
CUT = "cut"


def latencies(profile: Profile, **chosen: object) -> list[tuple]:
    """Return event, process, kind and latency of the table of events."""
    rows = node_use.events(Scope(profile, Selection(**chosen))).records()
    return [(row["Event"], row["Process"], row["Kind"], row["Latency (ns)"]) for row in rows]


# ---- an nsys export of wire-cell


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Profile]:
    """Return a real export of four events."""
    path = tmp_path_factory.mktemp("own") / "own-nsys.sqlite"
    path.write_bytes(lzma.decompress(OWN.read_bytes()))
    with Profile.open(path) as profile:
        yield profile


def test_the_run_is_no_node_call_of_an_export(export: Profile) -> None:
    calls = export.node_calls
    assert "run" not in calls.node.to_list() and len(calls) == 4 * 27
    with sqlite3.connect(export.path) as file:
        expected = file.execute(
            "SELECT MAX(end) - MIN(start) FROM NVTX_EVENTS LEFT JOIN StringIds ON id = textId "
            "WHERE domainId = 1 AND uint64Value IS NOT NULL AND IFNULL(text, value) <> 'run' GROUP BY uint64Value"
        ).fetchall()
    found = latencies(export)
    assert [row[0] for row in found] == ["0", "1", "2", "3", "median"]
    assert [(row[3],) for row in found[:4]] == expected
    assert [row[2] for row in found] == ["first", "steady", "steady", "steady", "steady"]
    (run,) = read_runs(export.path)
    assert run.events == [0, 1, 2, 3] and "run" not in run.times["wall"]


def test_one_event_of_an_export(export: Profile) -> None:
    first = Scope(export, Selection(events=(0, 0)))
    assert find_window(first).length == latencies(export)[0][3] and len(first.node_call_rows) == 27


def test_payloads_of_files_are_no_events(export: Profile) -> None:
    notes = {row["Notes"] for row in timeline(Scope(export)).records()}
    assert notes == {None, "event 0", "event 1", "event 2", "event 3"}


def test_ranges_of_the_start_up_are_no_node_calls(profile_file) -> None:
    with profile_file.writing() as file:
        file.domain("spng", 1)
        file.range("SPNGDecon:induction", 10, 90, domainId=1)  # its preparation
        file.range("run", 100, 300, domainId=1)
        file.range("SPNGDecon:induction", 110, 120, domainId=1, event=0)
        file.domain("spng", 1, pid=200)  # a process whose `run` began before the capture window
        file.range("SPNGDecon:induction", 310, 320, domainId=1, event=7, pid=200)
    assert profile_file.profile().node_calls.start.tolist() == [110, 310]


# ---- several processes


def process(path: Path, pid: int, latency: int) -> Path:
    """Write a process with the events 0 and 2, of which event 2 has this latency."""
    with Synthetic(path, pid=pid) as file:
        file.manifest(file=path.name)
        file.node(1, "A", "")
        for event, start, end in ((0, 0, 1000), (2, 2000, 2000 + latency)):
            file.node_call(event + 1, 1, event, start, end)
            file.job_event(event, start, end)
    return path


@pytest.fixture
def both(tmp_path: Path) -> Iterator[Profile]:
    """Return the merge of two processes."""
    files = [process(tmp_path / f"{pid}.sqlite", pid, latency) for pid, latency in ((100, 10), (200, 30))]
    assert cli.main(["merge", *map(str, files), "-o", str(tmp_path / "all.sqlite")]) == 0
    with Profile.open(tmp_path / "all.sqlite") as profile:
        yield profile


def test_equal_events_of_two_processes_stay_apart(both: Profile) -> None:
    assert latencies(both) == [
        ("0", "100", "first", 1000),
        ("2", "100", "steady", 10),
        ("0", "200", "first", 1000),
        ("2", "200", "steady", 30),
        ("median", None, "steady", 20.0),
    ]
    (node,) = node_use.times(Scope(both)).records()
    assert [node[name] for name in ("First event (ns)", "Steady state (ns)", "Steady p95 (ns)")] == [
        1000,
        20,
        29,
    ]
    assert [(run.events, run.times["wall"]["A"].tolist()) for run in read_runs(both.path)] == [
        ([0, 2], [1000, 10]),
        ([0, 2], [1000, 30]),
    ]


def test_an_event_of_one_process(both: Profile) -> None:
    assert latencies(both, events=(2, 2), process=200)[:-1] == [("2", "200", "steady", 30)]
    with pytest.raises(UsageError, match="no such event.*\n.*\n.*2-2 of process 300\n.*processes 100, 200"):
        latencies(both, events=(2, 2), process=300)


def test_processes_with_one_pid(tmp_path: Path) -> None:
    files = [process(tmp_path / f"{name}.sqlite", 100, 10) for name in "ab"]
    assert cli.main(["merge", *map(str, files), "-o", str(tmp_path / "all.sqlite")]) == 0
    with Profile.open(tmp_path / "all.sqlite") as profile:
        assert [row[1] for row in latencies(profile)] == ["100 of VM 1"] * 2 + ["100 of VM 2"] * 2 + [None]
        threads = [int(thread) for thread in np.unique(profile.node_calls.thread)]
        assert [track_of(profile, thread)[0] for thread in threads] == [(1 << 24) + 100, (2 << 24) + 100]
        with pytest.raises(UsageError, match="several processes.*\n.*\n.*in 100 of VM 1 and 100 of VM 2\n"):
            latencies(profile, events=(2, 2), process=100)
    with Profile.open(files[0]) as profile:
        assert track_of(profile, int(profile.node_calls.thread[0]))[0] == 100


# ---- capture windows


def test_cut_events_have_no_latency(profile_file) -> None:
    """Event 3 is whole, the capture window opened in event 2 and closed in event 4; event 5 was never ended."""
    with profile_file.writing() as file:
        file.manifest(what="calls")
        file.node(1, "A", "")
        for event, length in ((2, 10), (3, 100), (4, 20), (5, 1)):
            file.node_call(event, 1, event, 1000 * event, 1000 * event + length)
        file.job_event(2, 1500, 2010, whole=False)
        file.job_event(3, 2900, 3100)
        file.job_event(4, 3900, 4800, whole=False)
    scope = profile_file.scope()
    assert latencies(scope.profile) == [
        ("2", "100", CUT, None),
        ("3", "100", "steady", 100),
        ("4", "100", CUT, None),
        ("5", "100", CUT, None),
        ("median", None, "steady", 100.0),
    ]
    (node,) = node_use.times(scope).records()
    assert (node["First event (ns)"], node["Steady state (ns)"], node["Calls"]) == (None, 100, 4)
    assert node["Steady p95 (ns)"] == 100
    (run,) = read_runs(profile_file.path)
    assert run.events == [3] and steady([run], "wall", "A", 1)[0].tolist() == [100]
    tables = {"events": node_use.events(scope)}
    window = find_window(scope)
    assert ("3", "cut events", "only in part in the profile: without latency") in tiles(scope, window, tables)
    (chart,) = (chart for chart in charts(scope, window, tables) if chart.heading == "Latency per event")
    assert chart.caption == ("One whole event was recorded: 100 ns. Left out, because cut: 3 events.")


def write_three_events(file: Synthetic) -> None:
    """Write the events 0, 1 and 2 of 900 ns at 0, 1000 and 2000, each with a call of A and one of B."""
    file.manifest()
    file.node(1, "A", "")
    file.node(2, "B", "")
    for event in range(3):
        file.node_call(2 * event + 1, 1, event, 1000 * event, 1000 * event + 500)
        file.node_call(2 * event + 2, 2, event, 1000 * event + 500, 1000 * event + 900)
        file.job_event(event, 1000 * event, 1000 * event + 900)


def test_an_event_of_which_time_selects_a_part_is_cut(profile_file) -> None:
    with profile_file.writing() as file:
        write_three_events(file)
    profile = profile_file.profile()
    assert latencies(profile, time=(1450, None)) == [
        ("1", "100", CUT, None),
        ("2", "100", "steady", 900),
        ("median", None, "steady", 900.0),
    ]
    steady_times = [
        row["Steady state (ns)"]
        for row in node_use.times(Scope(profile, Selection(time=(1450, None)))).records()
    ]
    assert steady_times == [400, 500]  # B, which is called twice, and A: without event 1
    assert [row[2] for row in latencies(profile, time=(None, 1500))] == ["first", CUT]
    assert latencies(profile, time=(900, 2000)) == [
        ("1", "100", "steady", 900),
        ("median", None, "steady", 900.0),
    ]
    assert latencies(profile, nodes=("A",), time=(1000, None))[0] == ("1", "100", "steady", 500)


def test_an_event_whose_operations_start_after_time_is_cut(profile_file) -> None:
    with profile_file.writing() as file:
        write_three_events(file)
        file.launch("kernel", call=(1600, 1610), run=(1950, 1990))
    profile = profile_file.profile()
    assert latencies(profile)[1] == ("1", "100", "steady", 990)
    assert latencies(profile, time=(1000, 1930)) == [("1", "100", CUT, None)]


def test_the_first_event_is_that_of_the_process(profile_file) -> None:
    """--profile-events 2-3: the warm-up is not in the file."""
    with profile_file.writing() as file:
        file.manifest()
        file.node(1, "A", "")
        for event, length in ((2, 10), (3, 30)):
            file.node_call(event, 1, event, 1000 * event, 1000 * event + length)
            file.job_event(event, 1000 * event, 1000 * event + length)
    assert [row[2:] for row in latencies(profile_file.profile())] == [
        ("steady", 10),
        ("steady", 30),
        ("steady", 20.0),
    ]
    (run,) = read_runs(profile_file.path)
    assert steady([run], "wall", "A", 1)[0].tolist() == [10, 30]
    check_events("A", [run], 2)
    with pytest.raises(UsageError, match="no event after the warm-up"):
        check_events("A", [run], 4)


def test_a_window_of_nsys(profile_file) -> None:
    """nsys names the domains of a program even if the capture window holds no range of an event."""
    with profile_file.writing() as file:
        file.domain("spng", 1)
        file.domain("spng.sched", 2)
        file.range("A:a", 0, 10, domainId=1, event=1)
        file.range("event", 20, 50, domainId=2, event=2, style=START_END)
        file.range("A:a", 30, 40, domainId=1, event=2)
        file.range("event", 50, None, domainId=2, event=3, style=START_END)
        file.range("A:a", 50, 60, domainId=1, event=3)
    assert [row[2] for row in latencies(profile_file.profile())] == [CUT, "steady", CUT, "steady"]


def test_no_whole_event(profile_file) -> None:
    with profile_file.writing() as file:
        file.manifest()
        file.table("SPNG_EVENT")
        file.node(1, "A", "")
        file.node_call(1, 1, 0, 0, 10)
    assert latencies(profile_file.profile()) == [("0", "100", CUT, None)]
    with pytest.raises(MissingData, match="every event in .* is cut"):
        read_runs(profile_file.path)


def test_a_program_that_reports_no_events(profile_file) -> None:
    """The recorder in a Python program: its tables of events and calls are empty, and the ranges tell."""
    with profile_file.writing() as file:
        file.manifest()
        file.table("SPNG_EVENT")
        file.table("SPNG_CALL")
        file.domain("spng", 1)
        file.range("A:a", 0, 10, domainId=1, event=0)
        file.range("A:a", 20, 35, domainId=1, event=1)
    assert latencies(profile_file.profile()) == [
        ("0", "100", "first", 10),
        ("1", "100", "steady", 15),
        ("median", None, "steady", 15.0),
    ]
    (run,) = read_runs(profile_file.path)
    assert run.times["wall"]["A:a"].tolist() == [10, 15]


def test_samples_of_merged_processes_stay_apart(tmp_path: Path) -> None:
    """Processor time is a sum per process; mixed sums would be jumps of thousands of cores."""
    files = []
    for pid, begun in ((100, 0), (200, 10**9)):
        files.append(tmp_path / f"{pid}.sqlite")
        with Synthetic(files[-1], pid=pid) as file:
            file.manifest(process=str(pid))
            for step in range(3):
                file.sample(1000 * step, "process", "cpu_ns", begun + 500 * step)
                file.sample(1000 * step, "process", "resident_bytes", pid)
    assert cli.main(["merge", *map(str, files), "-o", str(tmp_path / "all.sqlite")]) == 0
    with Profile.open(tmp_path / "all.sqlite") as profile:
        used = [
            one
            for one in make_counters(Scope(profile), Window(0, 2000, ""))
            if one.title == "processor in use"
        ]
        assert [one.value.tolist() for one in used] == [[0.5, 0.5], [0.5, 0.5]]
        peaks = [(row["What"], row["Peak (B)"]) for row in memory_use.peaks(Scope(profile)).records()]
        assert peaks == [("process 100 resident_bytes", 100), ("process 200 resident_bytes", 200)]
