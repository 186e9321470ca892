# SPDX-License-Identifier: Apache-2.0
"""wirecell-profile summary: every definition gives the value worked out by hand."""

from __future__ import annotations

import json

import pytest
from wirecell_profile.cli import main
from wirecell_profile.errors import MissingData, UsageError
from wirecell_profile.model.window import find_window
from wirecell_profile.output import Result
from wirecell_profile.tables import device_use, node_use, range_use
from wirecell_profile.tables.sections import SECTIONS
from wirecell_profile.tables.timeline import timeline


def by(result: Result, key: str) -> dict[str, dict]:
    """Return rows as dictionaries by the value of a column."""
    names = [column.name for column in result.columns]
    rows = [dict(zip(names, row)) for row in result.rows]
    return {row[key]: row for row in rows}


@pytest.fixture
def recorded(profile_file):
    """Write an analysis window 0..1000. Node A calls B in event 0, both run in event 1; five device operations:

    kernel 130-190 and copy 240-260 of A, kernel 180-230 of B; copy 430-470 of A (waits), kernel 700-800 of B.
    """
    with profile_file.writing() as file:
        file.manifest(what="calls,nvtx,cuda")
        file.domain("spng", 1)
        file.category("event", 16, 1)
        file.domain("spng.startup", 2)
        file.range("read configuration", -50, -10, domainId=2)
        file.range("run", 0, 1000, domainId=1)
        file.range("A", 100, 300, domainId=1, event=0)
        file.range("B", 150, 200, domainId=1, event=0)
        file.range("A", 400, 500, domainId=1, event=1)
        file.range("B", 500, 520, domainId=1, event=1)
        file.node(1, "A", "")
        file.node(2, "B", "")
        file.row("SPNG_EDGE", id=0, tail=1, tailPort=0, head=2, headPort=0)
        file.node_call(1, 1, 0, 100, 300, rss=1000, cuda_alloc_peak=70, bytes_in=5, cpu=90)
        file.node_call(2, 2, 0, 150, 200, rss=1200, cuda_alloc_peak=80)
        file.node_call(3, 1, 1, 400, 500, rss=1100, cuda_alloc_peak=90)
        file.node_call(4, 2, 1, 500, 520, rss=900)
        file.launch("k1", (110, 120), (130, 190))
        file.launch("k2", (160, 170), (180, 230), stream=8)
        file.copy(240, 260, file.call("cudaMemcpyAsync", 210, 215), size=4000)
        file.copy(430, 470, file.call("cudaMemcpy_v3020", 410, 480), size=8000, kind=2, source=2, target=0)
        file.launch("k3", (505, 510), (700, 800), graphNodeId=5)
        file.row(
            "CUDA_GPU_MEMORY_USAGE_EVENTS", start=105, deviceId=0, memKind=2, virtualAddress=16, bytes=64
        )
    return profile_file


def test_utilisation(recorded) -> None:
    rows = by(device_use.utilisation(recorded.scope()), "Quantity")
    times = {name: row["Time (ns)"] for name, row in rows.items() if row["Time (ns)"] is not None}
    assert times == {
        "window": 1000,
        "gpu_busy": 260,
        "kernel_busy": 200,
        "copy_busy": 60,
        "overlap": 0,
        "parallel": 10,
        "idle: before the first operation": 130,
        "idle: host wait": 400,
        "idle: kernel wait": 10,
        "idle: other wait": 0,
        "idle: after the last operation": 200,
    }
    assert rows["gpu_busy"]["Share of W (%)"] == pytest.approx(26.0)
    assert rows["concurrency"]["Ratio"] == pytest.approx(270 / 260)
    assert rows["field: work fraction"]["Ratio"] == pytest.approx(210 / 270)
    assert rows["field: I-O fraction"]["Ratio"] == pytest.approx(60 / 270)
    assert rows["field: utilisation 1"]["Ratio"] == pytest.approx(210 / (270 + 100))
    assert rows["field: utilisation 3"]["Ratio"] == pytest.approx(270 / 1000)
    assert "field: utilisation 2" not in rows  # nothing of the operating system in the file


def test_idle_classes_follow_the_threshold_and_add_up(recorded) -> None:
    (use,) = device_use.device_uses(recorded.scope())
    classes = use.idle_classes(kernel_wait=9)
    assert classes["kernel wait"] == 0 and classes["other wait"] == 10
    assert use.gpu_busy + sum(classes.values()) == use.window.length


def test_kernels_and_copies_at_once(profile_file) -> None:
    with profile_file.writing() as file:
        file.launch("k", (0, 1), (10, 50))
        file.copy(30, 70, file.call("cudaMemcpyAsync", 2, 3), stream=9)
    (use,) = device_use.device_uses(profile_file.scope())
    assert (use.gpu_busy, use.kernel_busy, use.copy_busy, use.overlap, use.parallel) == (60, 40, 40, 20, 20)


def test_an_unknown_launch_is_no_host_wait(profile_file) -> None:
    with profile_file.writing() as file:
        file.kernel("a", 0, 10, 998)
        file.kernel("b", 30, 40, 999)
    (use,) = device_use.device_uses(profile_file.scope())
    assert use.idle_classes()["other wait"] == 20 and use.idle_classes()["host wait"] == 0


def test_two_devices_are_two_rows(profile_file) -> None:
    with profile_file.writing() as file:
        file.range("run", 0, 100, domainId=1)
        file.domain("spng", 1)
        file.launch("k", (0, 1), (10, 30), device=0)
        file.launch("k", (2, 3), (10, 60), device=1)
    uses = device_use.device_uses(profile_file.scope())
    assert [(use.device, use.gpu_busy) for use in uses] == [(0, 20), (1, 50)]


def test_operations_are_cut_at_the_window(profile_file) -> None:
    with profile_file.writing() as file:
        file.domain("spng", 1)
        file.range("run", 100, 200, domainId=1)
        file.launch("k", (0, 1), (50, 120))
        file.launch("k", (2, 3), (190, 300))
    (use,) = device_use.device_uses(profile_file.scope())
    assert use.gpu_busy == 30


def test_window_is_the_run_or_what_was_chosen(recorded) -> None:
    assert (find_window(recorded.scope()).start, find_window(recorded.scope()).end) == (0, 1000)
    chosen = find_window(recorded.scope(events=(1, 1)))
    assert (chosen.start, chosen.end) == (400, 800)  # to the end of the operations launched there
    cut = find_window(recorded.scope(time=(200, None)))
    assert (cut.start, cut.end) == (200, 1000)
    with pytest.raises(UsageError):
        find_window(recorded.scope(time=(5000, 6000)))


def test_nodes_on_the_host(recorded) -> None:
    rows = by(node_use.times(recorded.scope()), "Node")
    a, b = rows["A"], rows["B"]
    assert (a["Calls"], a["Inclusive (ns)"], a["Exclusive (ns)"]) == (2, 300, 250)
    assert (b["Calls"], b["Inclusive (ns)"], b["Exclusive (ns)"]) == (2, 70, 70)
    assert (a["First event (ns)"], a["Steady state (ns)"]) == (150, 100)
    assert a["CPU time (ns)"] == 90 and b["CPU time (ns)"] is None
    assert a["Share of W (%)"] == pytest.approx(25.0)


def test_percentiles_over_events(profile_file) -> None:
    """Events 1 to 21 take 1 to 21 ns in two calls each: 20 of 21 take at most 20 ns. Event 0 does not count."""
    with profile_file.writing() as file:
        file.manifest(what="calls")
        file.node(1, "A", "")
        for event in range(22):
            start, half = 1000 * event, event // 2
            file.node_call(2 * event, 1, event, start, start + half)
            file.node_call(2 * event + 1, 1, event, start + 100, start + 100 + event - half)
    (node,) = node_use.times(profile_file.scope()).records()
    assert (node["First event (ns)"], node["Steady state (ns)"], node["Steady p95 (ns)"]) == (0, 11, 20)


def test_nodes_on_the_device(recorded) -> None:
    rows = by(node_use.devices(recorded.scope()), "Node")
    a, b = rows["A"], rows["B"]
    assert (a["GPU ops"], a["Ops per call"], a["Launches"]) == (3, 1.5, 3)
    assert (a["gpu_busy (ns)"], a["copy_busy (ns)"], a["proj_span (ns)"], a["proj_idle (ns)"]) == (
        120,
        60,
        170,
        50,
    )
    assert a["proj_eff (%)"] == pytest.approx(100 * 120 / 170)
    assert (a["API (ns)"], a["Waiting API (ns)"]) == (85, 70)
    assert a["Queue p50 (ns)"] == 10.0
    assert (a["To device (B)"], a["To host (B)"]) == (4000, 8000)
    assert (b["GPU ops"], b["gpu_busy (ns)"], b["proj_span (ns)"], b["Queue p50 (ns)"]) == (
        2,
        150,
        150,
        100.0,
    )
    assert (a["Verdict"], b["Verdict"]) == ("transfer-bound", "device-bound")


@pytest.mark.parametrize(
    "launch, run, verdict",
    [
        ((10, 20), (25, 30), "host-bound"),  # 5 of 1000 ns
        ((10, 20), (25, 900), "device-bound"),
        ((10, 20), (30_000, 30_100), "device-bound"),  # waited 30 us: the device was occupied
        (None, None, "host only"),
    ],
)
def test_verdicts(profile_file, launch, run, verdict: str) -> None:
    with profile_file.writing() as file:
        file.manifest()
        file.node(1, "A", "")
        file.node_call(1, 1, 0, 0, 1000)
        if launch:
            file.launch("k", launch, run)
        else:
            file.launch("k", (2000, 2001), (2002, 2003))
    assert by(node_use.devices(profile_file.scope()), "Node")["A"]["Verdict"] == verdict


def test_events(recorded) -> None:
    rows = by(node_use.events(recorded.scope()), "Event")
    assert (rows["0"]["Kind"], rows["0"]["Latency (ns)"], rows["0"]["Host latency (ns)"]) == (
        "first",
        200,
        200,
    )
    assert (rows["1"]["Kind"], rows["1"]["Latency (ns)"], rows["1"]["Host latency (ns)"]) == (
        "steady",
        400,
        120,
    )
    assert (rows["0"]["gpu_busy (ns)"], rows["0"]["GPU ops"]) == (120, 3)
    assert rows["median"]["Latency (ns)"] == 400.0
    assert (rows["0"]["Node time (ns)"], rows["0"]["To device (B)"]) == (200, 4000)


def test_memory_is_the_highest_of_the_calls(recorded) -> None:
    """Node A ends with 1000 and 1100 bytes, and B between them and after them."""
    rows = by(node_use.times(recorded.scope()), "Node")
    a, b = rows["A"], rows["B"]
    assert (a["Resident growth (B)"], a["Memory (B)"], a["In (B)"]) == (100, 90, 5)
    assert (b["Resident growth (B)"], b["Memory (B)"], b["In (B)"], b["Operations"]) == (0, 80, None, None)


def test_ranges(recorded) -> None:
    rows = by(range_use.times(recorded.scope()), "Range")
    assert (rows["spng:run"]["Exclusive (ns)"], rows["spng:A"]["Exclusive (ns)"]) == (1000 - 320, 250)
    assert (rows["spng:A"]["First (ns)"], rows["spng:A"]["Later median (ns)"]) == (200, 100.0)
    device = by(range_use.devices(recorded.scope()), "Range")
    a = device["spng:A"]  # with B's kernel in event 0: union 130-230 and 240-260, span 130
    assert (a["GPU ops"], a["gpu_sum (ns)"], a["gpu_busy (ns)"], a["gpu_excl (ns)"]) == (4, 170, 160, 120)
    assert (a["proj_span (ns)"], a["proj_idle (ns)"]) == (170, 10)
    assert a["proj_eff (%)"] == pytest.approx(100 * 160 / 170)
    assert a["upstream_eff (%)"] == pytest.approx(100 * 110 / 170)  # kernels' sum over span


def test_gaps_on_the_host(recorded) -> None:
    rows = range_use.cpu_gaps(recorded.scope(), shortest=50).rows
    assert [row[1:5] for row in rows] == [("all", 1, None, 100), ("one", None, 300, 100)]
    assert rows[0][0] == "thread 1" and rows[1][6:] == ("spng:A", "spng:A")


def test_gaps_before_the_run_do_not_count(profile_file) -> None:
    with profile_file.writing() as file:
        file.domain("spng", 1)
        file.range("warm-up", 0, 10, domainId=1)
        file.range("run", 1_000, 2_000, domainId=1)
        file.range("A", 1_000, 1_100, domainId=1)
        file.range("B", 1_300, 2_000, domainId=1)
    assert [row[4] for row in range_use.cpu_gaps(profile_file.scope(), shortest=50).rows] == [200, 200]


def test_streams_and_bus(recorded) -> None:
    streams = by(device_use.streams(recorded.scope()), "Stream")
    assert {stream: row["Busy (ns)"] for stream, row in streams.items()} == {7: 220, 8: 50}
    bus = by(device_use.bus(recorded.scope()), "Direction")
    assert (bus["Host-to-Device"]["Size (B)"], bus["Host-to-Device"]["Throughput (GB/s)"]) == (4000, 200.0)
    assert bus["Device-to-Host"]["To"] == "Pageable"


def test_timeline(recorded) -> None:
    rows = timeline(recorded.scope(), operations=True).rows
    assert [row[:3] for row in rows[:5]] == [
        (-50, "spng.startup:read configuration", 40),
        (0, "spng:run", 1000),
        (100, "  spng:A", 200),
        (130, "GPU k1", 60),
        (150, "    spng:B", 50),
    ]
    assert rows[2][3] == "event 0, 3 GPU operations, busy 120 of 130 ns"
    assert "1 waiting calls" in rows[[row[0] for row in rows].index(400)][3]
    assert len(timeline(recorded.scope(events=(1, 1))).rows) == 2


def test_the_command(recorded, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["summary", str(recorded.path)]) == 0
    shown = capsys.readouterr().out
    for name in SECTIONS:
        assert f"({name})" in shown
    assert "host-bound: the device works less than 50%" in shown and "missing" not in shown
    assert main(["summary", str(recorded.path), "-f", "json", "-s", "nodes,bus", "--node", "B"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["tables"]["bus"] == [] and data["missing"] == {}  # the file has copies, B made none
    assert [row["Node"] for row in data["tables"]["nodes"]] == ["B"]
    assert main(["summary", str(recorded.path), "--timeline", "--range", "spng:B"]) == 0
    assert capsys.readouterr().out.count("spng:B") == 2
    assert main(["summary", str(recorded.path), "-s", "nothing"]) == 2


def test_without_a_gpu_nothing_is_zero(profile_file, capsys: pytest.CaptureFixture[str]) -> None:
    with profile_file.writing() as file:
        file.manifest(what="calls,nvtx")
        file.domain("spng", 1)
        file.range("run", 0, 100, domainId=1)
        file.range("A", 10, 60, domainId=1, event=0)
        file.node(1, "A", "")
        file.node_call(1, 1, 0, 10, 60)
    with pytest.raises(MissingData):
        device_use.utilisation(profile_file.scope())
    assert main(["summary", str(profile_file.path), "-f", "json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert set(data["missing"]) == {
        "utilisation",
        "node-devices",
        "range-devices",
        "kernels",
        "api",
        "streams",
        "bus",
        "memory",
        "leaks",
        "start-up",
        "graph-nodes",
        "critical-path",
    }
    (event,) = data["tables"]["events"]
    assert event["gpu_busy (ns)"] is None and event["Latency (ns)"] == 50
