# SPDX-License-Identifier: Apache-2.0
"""Recordings of the real pipeline on the CPU: complete, consistent with the per-node table, and limited to the events asked for."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest

from tests.recorder import recorded
from tests.recorder.recorded import PUSH_POP, START_END, Range, Recorded
from tests.support import wire_cell
from tests.support.small_site import Site

pytestmark = [wire_cell.needs_program, recorded.needs_recorder]

EVENTS = 3
FIRST_TICK, TICKS = 900, 2000  # of the default event, where tracks cross
# Only in long readouts, and only on a device.
NOT_IN_THIS_JOB = {
    "StitchWindows::stitch",
    "FrameToTorchSetFanout::upload",
    "TorchTensorSetToFrameFanin::complete",
}
STEPS = {
    step
    for source in (wire_cell.ROOT / "spng/nodes").rglob("*.*")
    for step in re.findall(r'NVTX_SCOPED_RANGE\("(\w+::\w+)"\)', source.read_text(encoding="utf-8"))
}


def write_input(folder: Path, events: int = EVENTS) -> None:
    """adc.npz: a piece of the default event, several times."""
    samples, channels, _ = wire_cell.default_adc()
    samples = np.ascontiguousarray(samples[:, FIRST_TICK : FIRST_TICK + TICKS])
    arrays: wire_cell.Arrays = {}
    for ident in range(events):
        arrays |= wire_cell.event(samples, channels, ident)
    wire_cell.write_arrays(folder / "adc.npz", arrays)


def write_noise(site: Site, folder: Path, events: int) -> None:
    """adc.npz: events of the small detector with noise alone."""
    shape = len(site.anode.channels), events * TICKS
    samples = np.random.default_rng(3).normal(2000, 12, shape).astype(np.int16)
    ends = [TICKS * count for count in range(1, events + 1)]
    wire_cell.write_arrays(folder / "adc.npz", site.frames(samples, ends))


def record(folder: Path, *flags: str, engine: str = "Pgrapher") -> Recorded:
    """Run the pipeline on adc.npz with --record run.sqlite."""
    wire_cell.job(
        folder, "--record", "run.sqlite", "--timing", "timing.json", *flags, input="adc.npz", engine=engine
    )
    return Recorded(folder / "run.sqlite")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Recorded, dict]:
    """A recording and the timing report of the same run."""
    folder = tmp_path_factory.mktemp("recording")
    write_input(folder)
    return record(folder), json.loads((folder / "timing.json").read_text(encoding="utf-8"))


def exclusive(ranges: list[Range]) -> dict[int, dict[str, int]]:
    """Time in ranges of each name but not in those inside of them, by thread. Ranges in the order of their starts."""
    times: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    open_ranges: dict[int, list[Range]] = defaultdict(list)
    for each in ranges:
        stack = open_ranges[each.thread]
        while stack and stack[-1].end <= each.start:
            stack.pop()
        if stack:
            assert each.end <= stack[-1].end, "ranges of one thread overlap"
            times[each.thread][stack[-1].name] -= each.end - each.start
        times[each.thread][each.name] += each.end - each.start
        stack.append(each)
    return times


class TestContent:
    def test_every_node_and_step_is_there(self, run: tuple[Recorded, dict]) -> None:
        """Nodes once per event, with its index as payload; the steps in the sources of the nodes of this job."""
        file, timing = run
        calls = file.sql(
            "SELECT s.value, n.uint64Value FROM NVTX_EVENTS n JOIN StringIds s ON n.textId = s.id "
            "WHERE n.eventType = 59 AND n.uint64Value IS NOT NULL"
        )
        for node in timing["nodes"]:
            assert sorted(event for name, event in calls if name == node["name"])[:EVENTS] == list(
                range(EVENTS)
            ), node["name"]
        types = {node["name"].split(":")[0].removeprefix("SPNG") for node in timing["nodes"]}
        listed = {step for step in STEPS if step.split("::")[0] in types}
        assert len(listed) > 15
        assert listed - {each.name for each in file.ranges(PUSH_POP)} == NOT_IN_THIS_JOB

    def test_the_start_up_is_there(self, run: tuple[Recorded, dict]) -> None:
        """The same phases as ranges and as rows; they and the time before the recording add up to the first call."""
        file, timing = run
        ranges = file.sql(
            "SELECT s.value, n.end - n.start FROM NVTX_EVENTS n JOIN StringIds s ON n.textId = s.id JOIN "
            "NVTX_EVENTS d ON d.eventType = 75 AND d.domainId = n.domainId AND d.text = 'spng.startup' "
            "WHERE n.eventType = 59 ORDER BY n.start"
        )
        rows = timing["start_up"]
        assert [row["name"] for row in rows[:2]] == ["load program", "start recorder"]
        assert [name for name, _ in ranges] == [row["name"] for row in rows[2:]]
        assert all(abs(time - row["wall_ns"]) < 5e6 for (_, time), row in zip(ranges, rows[2:]))
        names = {name for name, _ in ranges}
        assert {"read configuration", "make components", "prepare SPNGDecon:induction"} <= names
        assert any(name.startswith("prepare TorchFRERSpectrum:") for name in names)
        [(first_call,)] = file.sql("SELECT MIN(start) FROM SPNG_CALL")
        startup = 1e9 * timing["run"]["startup_seconds"]
        assert first_call + int(file.run()["process_age_ns"]) == pytest.approx(startup, abs=50e6)
        assert 0.8 * startup < sum(row["own_wall_ns"] for row in rows) <= startup

    def test_files_are_ranges_of_their_own_domain(self, run: tuple[Recorded, dict]) -> None:
        [(names,)] = run[0].sql(
            "SELECT GROUP_CONCAT(DISTINCT s.value) FROM NVTX_EVENTS n JOIN StringIds s ON n.textId = s.id JOIN "
            "NVTX_EVENTS d ON d.eventType = 75 AND d.domainId = n.domainId AND d.text = 'spng.io'"
        )
        assert "FrameReader" in names and "FrameWriter" in names

    def test_graph(self, run: tuple[Recorded, dict]) -> None:
        """Edges join nodes that are there; each carried one message per event, after its tail's call and before its head's."""
        file, timing = run
        nodes = dict(
            file.sql("SELECT id, type || CASE name WHEN '' THEN '' ELSE ':' || name END FROM SPNG_NODE")
        )
        assert {node["name"] for node in timing["nodes"]} <= set(nodes.values())
        edges = file.sql("SELECT id, tail, head FROM SPNG_EDGE")
        assert len(edges) > 20 and all(tail in nodes and head in nodes for _, tail, head in edges)
        assert file.sql("SELECT COUNT(*), COUNT(DISTINCT edge) FROM SPNG_MSG") == [
            (EVENTS * len(edges), len(edges))
        ]
        late = file.sql(
            "SELECT COUNT(*) FROM SPNG_MSG m JOIN SPNG_EDGE e ON e.id = m.edge "
            "JOIN SPNG_CALL t ON t.node = e.tail AND t.event = m.event JOIN SPNG_CALL h ON h.node = e.head AND "
            "h.event = m.event WHERE NOT (t.end <= m.enq AND m.enq <= m.deq AND m.deq <= h.start)"
        )
        assert late == [(0,)]

    def test_manifest(self, run: tuple[Recorded, dict]) -> None:
        file, timing = run
        manifest = file.run()
        assert (
            manifest["events"] == str(EVENTS)
            and manifest["engine"] == "Pgrapher"
            and manifest["device"] == "cpu"
        )
        assert (
            manifest["commit"]
            and manifest["end"] == "stop"
            and "--record run.sqlite" in manifest["command_line"]
        )
        assert json.loads(manifest["settings"])["arguments"]["input"] == "adc.npz"
        assert {component["type"] for component in json.loads(manifest["configuration"])} >= {
            "SPNGDecon",
            "FrameFileSink",
        }
        assert re.fullmatch("[0-9a-f]{16}", manifest["configuration_hash"])


class TestNumbers:
    def test_exclusive_times_add_up_to_the_run(self, run: tuple[Recorded, dict]) -> None:
        """Of the domain spng on the one thread of Pgrapher: nodes and steps together take the run, within 1 %."""
        ranges = [each for each in run[0].ranges(PUSH_POP) if each.end is not None]
        [whole] = [each for each in ranges if each.name == "run"]
        inside = [
            each
            for each in ranges
            if each.thread == whole.thread and whole.start <= each.start and each.end <= whole.end
        ]
        times = exclusive(inside)[whole.thread]
        assert sum(times.values()) == whole.end - whole.start
        assert times["run"] < 0.01 * (whole.end - whole.start), "time of the run that no node accounts for"

    def test_calls_agree_with_the_table_of_the_run(self, run: tuple[Recorded, dict]) -> None:
        """Same meter, so the same numbers; the range around a call begins before it and ends after it, by what measuring costs:
        typically some microseconds, more where the system takes the processor away in between."""
        file, timing = run
        calls = defaultdict(list)
        for name, instance, start, end, ok in file.sql(
            "SELECT type, n.name, start, end, ok FROM SPNG_CALL c JOIN SPNG_NODE n ON n.id = c.node ORDER BY start"
        ):
            calls[name + (":" + instance if instance else "")].append((start, end))
            assert ok == 1
        ranges = defaultdict(list)
        for each in file.ranges(PUSH_POP):
            ranges[each.name].append(each)
        around = []
        for node in timing["nodes"]:
            name = node["name"]
            assert [end - start for start, end in calls[name]] == [
                call["wall_ns"] for call in node["per_call"]
            ], name
            for (start, end), whole in zip(calls[name], ranges[name]):
                assert whole.start <= start and end <= whole.end, name
                around.append(whole.end - end + start - whole.start)
        assert len(around) >= EVENTS * len(timing["nodes"]) and np.median(around) < 100e3

    def test_events_in_flight_cover_their_nodes(self, run: tuple[Recorded, dict]) -> None:
        file = run[0]
        events = file.sql(
            "SELECT n.start, n.end, n.uint64Value FROM NVTX_EVENTS n JOIN StringIds s ON n.textId = s.id "
            "WHERE n.eventType = 60 AND s.value = 'event'"
        )
        for start, end, event in [row for row in events if row[2] < EVENTS]:
            [(first, last)] = file.sql(f"SELECT MIN(start), MAX(end) FROM SPNG_CALL WHERE event = {event}")
            assert start <= first and last <= end

    def test_memory(self, run: tuple[Recorded, dict]) -> None:
        """Each call says how large the process was; samples lie in the same range."""
        file = run[0]
        [(lowest, highest, missing)] = file.sql("SELECT MIN(rss), MAX(rss), SUM(rss IS NULL) FROM SPNG_CALL")
        assert missing == 0 and 5e7 < lowest <= highest < 5e9
        [(sampled, count)] = file.sql(
            "SELECT MAX(value), COUNT(*) FROM SPNG_SAMPLE WHERE metric = 'resident_bytes'"
        )
        assert count > 10 and 0.8 * highest <= sampled


class TestWindow:
    @pytest.mark.parametrize("engine", ["Pgrapher", "TbbFlow"])
    @pytest.mark.parametrize(
        "flags, wanted",
        [
            (("--profile-events", "1-2"), [1, 2]),
            (("--profile-events", "4-"), [4, 5]),
            (("--profile-schedule", "wait=1,warmup=1,active=1,repeat=2"), [2, 5]),
        ],
    )
    def test_only_these_events(
        self, site: Site, tmp_path: Path, engine: str, flags: tuple[str, str], wanted: list[int]
    ) -> None:
        """Each node once for each wanted event and never for another, also with several events in flight."""
        write_noise(site, tmp_path, 6)
        file = record(tmp_path, *site.flags, *flags, engine=engine)
        [(nodes,)] = file.sql("SELECT COUNT(*) FROM SPNG_NODE")
        calls = file.sql("SELECT node, event FROM SPNG_CALL")
        assert (
            sorted({event for _, event in calls}) == wanted
            and len(calls) == len(set(calls)) == len(wanted) * nodes
        )
        nodes_called = file.sql(
            "SELECT n.uint64Value FROM NVTX_EVENTS n JOIN StringIds s ON n.textId = s.id WHERE n.eventType = 59 "
            "AND s.value IN (SELECT type || CASE name WHEN '' THEN '' ELSE ':' || name END FROM SPNG_NODE)"
        )
        assert len(nodes_called) >= len(calls) and {event for (event,) in nodes_called} - {6} == set(wanted)
        assert {event for (event,) in file.sql("SELECT event FROM SPNG_MSG")} == set(wanted)
        assert file.sql("SELECT event, whole FROM SPNG_EVENT ORDER BY event") == [
            (event, 1) for event in wanted
        ]
        assert wire_cell.read_arrays(tmp_path / "output.npz").keys() >= {
            f"frame_signal_{ident}" for ident in range(6)
        }

    def test_a_failed_event_is_not_whole(self, site: Site, tmp_path: Path) -> None:
        """The event without ticks is skipped by --on-error; its latency is not that of a processed one."""
        write_noise(site, tmp_path, 3)
        arrays = wire_cell.read_arrays(tmp_path / "adc.npz")
        (bad,) = [name for name in arrays if name.startswith("frame_") and name.endswith("_1")]
        arrays[bad] = arrays[bad][:, :0]
        wire_cell.write_arrays(tmp_path / "adc.npz", arrays)
        file = record(tmp_path, *site.flags, "--on-error", "skip")
        assert file.sql("SELECT event, whole FROM SPNG_EVENT ORDER BY event") == [(0, 1), (1, 0), (2, 1)]

    def test_parallel_engine_on_every_thread(self, site: Site, tmp_path: Path) -> None:
        """Ranges nest on each of the threads that worked."""
        write_noise(site, tmp_path, EVENTS)
        file = record(tmp_path, *site.flags, "-t", "2", engine="TbbFlow")
        times = exclusive(list(file.ranges(PUSH_POP)))
        assert len(times) >= 2
        [(calls, events)] = file.sql("SELECT COUNT(*), COUNT(DISTINCT event) FROM SPNG_CALL")
        [(nodes,)] = file.sql("SELECT COUNT(*) FROM SPNG_NODE")
        assert calls == EVENTS * nodes and events == EVENTS
        assert [each.name for each in file.ranges(START_END)].count("event") >= EVENTS


def is_inside(inner: dict, outer: dict) -> bool:
    """Return whether an event of a Chrome trace lies in another; times are rounded to a ns."""
    return (
        outer["ts"] - 1e-3 <= inner["ts"] and inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"] + 1e-3
    )


class TestTorchProfiler:
    """Traces of LibTorch's own profiler beside a recording."""

    def test_a_window_of_events(self, site: Site, tmp_path: Path) -> None:
        """Operators of the two wanted events with their shapes, each in the annotation of its node; the recording
        continues beside.
        """
        write_noise(site, tmp_path, 4)
        file = record(tmp_path, *site.flags, "--torch-profiler", "traces", "--profile-events", "1-2")
        [path] = (tmp_path / "traces").iterdir()
        assert path.name.endswith(".0.pt.trace.json")
        trace = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
        operators = [each for each in trace if each.get("cat") == "cpu_op"]
        transforms = [each for each in operators if each["name"] == "aten::_fft_r2c"]
        assert len(transforms) == 2 * 2  # of each group of views, in each event
        assert all(each["args"]["Input Dims"] for each in transforms)
        calls = [each for each in trace if each.get("cat") == "user_annotation"]
        nodes = json.loads((tmp_path / "timing.json").read_text(encoding="utf-8"))["nodes"]
        assert Counter(each["name"] for each in calls) == {node["name"]: 2 for node in nodes}
        around = [
            {call["name"] for call in calls if call["tid"] == each["tid"] and is_inside(each, call)}
            for each in operators
        ]
        assert len(operators) > 100 and all(around)
        of_transforms = [names for names, each in zip(around, operators) if each in transforms]
        assert all(name.startswith("SPNGDecon:") for names in of_transforms for name in names)
        assert {event for (event,) in file.sql("SELECT event FROM SPNG_CALL")} == {1, 2}

    def test_one_trace_per_window(self, site: Site, tmp_path: Path) -> None:
        write_noise(site, tmp_path, 4)
        words = ("-A", "input=adc.npz", "-A", "output=output.npz", "-A", "device=cpu")
        schedule = ("--profile-schedule", "wait=1,active=1,repeat=2")
        job = ("-c", wire_cell.PIPELINE, *site.flags, *words)
        done = wire_cell.run(*job, "--torch-profiler", "traces", *schedule, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "failed with code" not in done.stderr  # Kineto finds no driver
        assert sorted(path.name.split(".", 1)[1] for path in (tmp_path / "traces").iterdir()) == [
            "0.pt.trace.json",
            "1.pt.trace.json",
        ]

    def test_rejected(self, site: Site, tmp_path: Path) -> None:
        """Never together with CUDA in the recording; not with an engine whose threads it does not see; not where it cannot write."""
        write_noise(site, tmp_path, 1)
        job = (
            "-c",
            wire_cell.PIPELINE,
            *site.flags,
            *wire_cell.settings("input=adc.npz", "output=out.npz", "device=cpu"),
        )
        both = wire_cell.rejected(
            *job,
            "--torch-profiler",
            "t",
            "--record",
            "run.sqlite",
            "--record-what",
            "nvtx,cuda",
            folder=tmp_path,
            status=2,
        )
        assert "only one of --torch-profiler and the part cuda" in both
        assert "-a Pgrapher" in wire_cell.rejected(
            *job, "--torch-profiler", "t", "-a", "TbbFlow", folder=tmp_path, status=2
        )
        assert "adc.npz/t" in wire_cell.rejected(
            *job, "--torch-profiler", "adc.npz/t", folder=tmp_path, status=2
        )
