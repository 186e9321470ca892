# SPDX-License-Identifier: Apache-2.0
"""Recordings of jobs on the simulated CUDA: every call, kernel, copy and graph replay, and every report of
`wirecell-profile`, equal the simulator's own log.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from tests.cuda_simulator.recorded_job import RecordedJob, Span
from tests.cuda_simulator.simulator_log import KERNELS, Record, duration, name_of, union
from tests.recorder import recorded
from tests.support import cuda_simulator as simulator
from tests.support import wire_cell
from tests.support.small_site import Site

pytestmark = [simulator.needs_simulator, recorded.needs_recorder]

EVENTS, TICKS = 3, 1500
PEAK_BANDWIDTH = 2 * 2619e6 * 5120 / 8  # of the simulated driver's clock and bus [bytes/s]


def record(site: Site, name: str, simulated: dict[str, Any] | None = None, **arguments: Any) -> RecordedJob:
    """Run the main job over the simulator with --record.

    :param simulated: settings of the simulator
    """
    if not (site.folder / "adc.npz").exists():
        wire_cell.write_arrays(site.folder / "adc.npz", site.busy_frames(EVENTS, TICKS))
    recording, log, report = (site.folder / f"{name}.{ending}" for ending in ("sqlite", "log", "json"))
    given = {"input": "adc.npz", "output": f"{name}.npz", "device": "cuda", "model": "none", "threads": 1}
    given["cuda_graph"] = "off"
    words: list[str | Path] = ["-c", wire_cell.PIPELINE, *site.flags, "--record", recording]
    words += wire_cell.settings(**(given | arguments))
    done = wire_cell.run(
        *words,
        folder=site.folder,
        env=simulator.environment(report, **{"log": log, "emulate": 0, **(simulated or {})}),
    )
    assert done.returncode == 0, done.stderr
    return RecordedJob.read(recording, log, report)


@pytest.fixture(scope="module")
def plain(site: Site) -> RecordedJob:
    return record(site, "plain")


@pytest.fixture(scope="module")
def graphs(site: Site) -> RecordedJob:
    return record(site, "graphs", cuda_graph="on")


@pytest.fixture(scope="module", params=["plain", "graphs"])
def job(request: pytest.FixtureRequest) -> RecordedJob:
    found: RecordedJob = request.getfixturevalue(request.param)
    return found


def grouped(records: Iterable[Record], key: Callable[[Record], Any]) -> dict[Any, list[Record]]:
    groups: dict[Any, list[Record]] = defaultdict(list)
    for each in records:
        groups[key(each)].append(each)
    return groups


class TestRows:
    """The tables of the recording."""

    def test_kernels(self, job: RecordedJob) -> None:
        found = job.sql(
            "SELECT value, start, end, deviceId, streamId, correlationId, gridX, gridY, gridZ, blockX, blockY, blockZ, "
            "dynamicSharedMemory, COALESCE(graphNodeId, 0) FROM CUPTI_ACTIVITY_KIND_KERNEL "
            "JOIN StringIds ON id = mangledName"
        )
        plain_keys = ("name", "start", "end", "device", "stream", "correlation")
        expected = [
            (*(each[key] for key in plain_keys), *each["grid"], *each["block"], each["shared"], each["node"])
            for each in job.log.kernels
        ]
        assert len(found) > 100 and sorted(found) == sorted(expected)

    def test_copies(self, job: RecordedJob) -> None:
        """Kinds have the values of nsys: 1 to the device, 2 to the host, 8 on it; memory 0 pageable, 1 pinned, 2 device."""
        found = job.sql(
            "SELECT start, end, deviceId, streamId, correlationId, bytes, copyKind, srcKind, dstKind, "
            "COALESCE(graphNodeId, 0) FROM CUPTI_ACTIVITY_KIND_MEMCPY"
        )
        keys = ("start", "end", "device", "stream", "correlation", "bytes")
        expected = []
        for each in job.log.copies:
            host = 0 if each["pageable"] else 1
            kinds = {
                "copy_to_device": (1, host, 2),
                "copy_to_host": (2, 2, host),
                "copy_on_device": (8, 2, 2),
            }
            expected.append((*(each[key] for key in keys), *kinds[each["kind"]], each["node"]))
        assert len(found) > 10 and sorted(found) == sorted(expected)

    def test_the_simulator_counts_the_same(self, job: RecordedJob) -> None:
        """The log agrees with the counts that the simulator keeps apart from its records."""
        direct = [each for each in job.log.operations if not each["graph"]]
        assert len(job.log.operations) - len(direct) == job.report["replayed_operations"]
        simulator.Report(job.report_file).check()
        kernels = [each for each in direct if each["kind"] in KERNELS]
        assert len(kernels) == sum(job.report["kernels"].values())
        captured = job.report["captured_kernels"]
        assert bool(captured) == bool(job.report["replays"])
        if captured:
            return  # the simulator's counts of copies include captured ones, which have no record
        sums = grouped(direct, lambda each: each["kind"].removeprefix("copy_"))
        for direction, counted in job.report["copies"].items():
            assert counted["count"] == len(sums[direction])
            assert counted["bytes"] == sum(each["bytes"] for each in sums[direction])

    def test_runtime_calls(self, job: RecordedJob) -> None:
        """Each call while the session runs, with the thread that made it."""
        found = {
            correlation: others
            for correlation, *others in job.sql(
                "SELECT correlationId, value, start, end, returnValue, globalTid & 0xFFFFFF "
                "FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = nameId WHERE eventClass = 0"
            )
        }
        keys = ("name", "start", "end", "status", "thread")
        expected = {correlation: [call[key] for key in keys] for correlation, call in job.log.calls.items()}
        missing = [expected.pop(correlation) for correlation in expected.keys() - found.keys()]
        assert len(found) > 500 and found == expected
        # Only those after the recording, at the end of the program.
        last = max(start for _, start, *_ in found.values())
        assert all(start > last for _, start, *_ in missing)

    def test_driver_calls(self, job: RecordedJob) -> None:
        """Launches of cuFFT, which uses the driver. Launches by the runtime are recorded once."""
        found = job.sql(
            "SELECT correlationId, value FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = nameId "
            "WHERE eventClass = 1"
        )
        transforms = [each for each in job.log.kernels if each["kind"] == "transform" and not each["graph"]]
        assert sorted(found) == sorted((each["correlation"], "cuLaunchKernel") for each in transforms)

    def test_waits(self, job: RecordedJob) -> None:
        """Types: 1 of an event, 2 of a stream for an event, 3 of a stream, 4 of a device."""
        types = {
            "cudaEventSynchronize": 1,
            "cudaEventQuery": 1,
            "cudaStreamWaitEvent": 2,
            "cudaStreamSynchronize": 3,
            "cudaDeviceSynchronize": 4,
        }
        expected = [
            (types[name_of(call)], call["start"], call["end"], call["stream"], call["event"], correlation)
            for correlation, call in job.log.calls.items()
            if name_of(call) in types and correlation in job.launches
        ]
        found = job.sql(
            "SELECT syncType, start, end, streamId, eventId, correlationId "
            "FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"
        )
        assert len(found) > 20 and sorted(found) == sorted(expected)

    def test_memory(self, job: RecordedJob) -> None:
        """Blocks of the runtime, of devices (2) and page-locked (1)."""
        found = job.sql(
            "SELECT start, virtualAddress, bytes, memKind, memoryOperationType FROM CUDA_GPU_MEMORY_USAGE_EVENTS"
        )
        expected = [
            (
                each["time"],
                each["address"],
                each["bytes"],
                1 if each["page_locked"] else 2,
                int(each["kind"] == "release"),
            )
            for each in job.log.allocations
        ]
        assert len(found) > 5 and sorted(found) == sorted(expected)

    def test_owners(self, job: RecordedJob) -> None:
        """The node call of each launch, by CUPTI's external correlation, is the innermost around it in time.

        Calls of nodes that prepare (the warm-up, the capture of a graph) have an id but no row.
        """
        found = dict(job.sql("SELECT correlationId, call FROM SPNG_CALL_CORRELATION"))
        names = {call.id: call for call in job.node_calls}
        checked = 0
        for operation in job.log.operations:
            launch = job.launches[operation["correlation"]]
            owner = job.innermost(job.node_calls, launch)
            id_ = found.get(operation["correlation"])
            if id_ in names:
                assert names[id_] == owner, (operation["name"], launch)
                checked += 1
            else:
                assert owner is None or (id_ and owner.name == "SPNGDeviceSection"), (operation["name"], id_)
        assert checked > 100

    def test_the_machine(self, job: RecordedJob) -> None:
        """The driver's values."""
        found = job.sql("SELECT id, name, busLocation, uuid, smCount, memoryBandwidth FROM TARGET_INFO_GPU")
        uuid = "GPU-01010101-0101-0101-0101-010101010101"
        assert found == [(0, "Simulated GPU", "0000:01:00.0", uuid, 132, PEAK_BANDWIDTH)]

    def test_nothing_is_lost(self, job: RecordedJob) -> None:
        manifest = dict(job.sql("SELECT key, value FROM SPNG_RUN"))
        assert manifest["tier"] == "cupti" and manifest["cuda.dropped_records"] == "0"
        assert manifest["cuda.unknown_records"] == "0" and job.sql("SELECT text FROM SPNG_DIAG") == []


class TestGraphs:
    def test_replays(self, graphs: RecordedJob) -> None:
        """Each replay has all nodes of its graph, once."""
        launches = [call for call in graphs.log.calls.values() if name_of(call) == "cudaGraphLaunch"]
        assert len(launches) == graphs.report["replays"] >= EVENTS
        by_launch = grouped(graphs.log.operations, lambda each: each["correlation"])
        for launch in launches:
            nodes = [each["node"] for each in by_launch[launch["correlation"]]]
            assert len(nodes) == len(set(nodes)) > 20

    def test_nodes(self, graphs: RecordedJob) -> None:
        """Each node of a replay was cloned from a captured one, which a node of the job created."""
        rows = graphs.sql("SELECT graphNodeId, originalGraphNodeId, spngCall FROM CUDA_GRAPH_NODE_EVENTS")
        captured = {node for node, original, call in rows if original is None and call}
        originals = {node: original for node, original, _ in rows if original is not None}
        replayed = {each["node"] for each in graphs.log.operations if each["graph"]}
        assert len(replayed) > 20 and {originals[node] for node in replayed} <= captured

    def test_owner(self, graphs: RecordedJob) -> None:
        """Replays belong to the calls of the section, one for each event."""
        sections = {call.id: 0 for call in graphs.node_calls if call.name == "SPNGDeviceSection"}
        for each in graphs.log.operations:
            if each["graph"]:
                owner = graphs.innermost(graphs.node_calls, graphs.launches[each["correlation"]])
                if owner:
                    sections[owner.id] += 1
        assert len(sections) == EVENTS and sum(count > 0 for count in sections.values()) >= EVENTS - 1

    def test_work_by_node(self, graphs: RecordedJob) -> None:
        """The table of graph nodes has all work of the replays, by the nodes of the section."""
        rows = graphs.profile("summary", "--section", "graph-nodes")["tables"]["graph-nodes"]
        work = {row["Node"]: row["GPU ops"] for row in rows}
        assert sum(work.values()) == sum(bool(each["graph"]) for each in graphs.log.operations)
        assert {"SPNGDecon:induction", "SPNGNoTileMPCoincidence:induction"} <= set(work)
        known = graphs.sql("SELECT type || CASE name WHEN '' THEN '' ELSE ':' || name END FROM SPNG_NODE")
        assert {(node,) for node in work} <= set(known)

    def test_whole_graphs(self, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        """With SPNG_RECORD_GRAPHS=whole a replay is one operation, from its first start to its last end."""
        monkeypatch.setenv("SPNG_RECORD_GRAPHS", "whole")
        job = record(site, "whole", cuda_graph="on", nevents=2)
        replays = grouped(
            [each for each in job.log.operations if each["graph"]], lambda each: each["correlation"]
        )
        found = job.sql(
            "SELECT correlationId, start, end, graphId, deviceId FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
        )
        assert sorted(found) == sorted(
            (
                correlation,
                min(each["start"] for each in nodes),
                max(each["end"] for each in nodes),
                nodes[0]["graph"],
                nodes[0]["device"],
            )
            for correlation, nodes in replays.items()
        )
        kernels = job.sql("SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_KERNEL")
        assert kernels == [(sum(not each["graph"] for each in job.log.kernels),)]


def owned(job: RecordedJob) -> dict[str, list[Record]]:
    """Operations of each node, by the innermost call around their launch."""
    groups: dict[str, list[Record]] = defaultdict(list)
    for each in job.log.operations:
        call = job.innermost(job.node_calls, job.launches[each["correlation"]])
        if call is not None:
            groups[call.name].append(each)
    return groups


class TestReports:
    """Reports on a recording. All of them are compared with hand-computed answers and with nsys in profiling/tests."""

    def test_kernels(self, job: RecordedJob) -> None:
        groups = grouped(job.log.kernels, name_of)
        found = {
            row["Name"]: (row["Instances"], row["Total Time (ns)"], row["Med (ns)"])
            for row in job.stats("cuda_gpu_kern_sum:mangled")
        }
        times = {name: [*map(duration, group)] for name, group in groups.items()}
        assert found == {name: (len(values), sum(values), median(values)) for name, values in times.items()}

    def test_projection(self, plain: RecordedJob) -> None:
        """A range has the operations of the calls within it on its thread."""
        found = {
            (row["Name"], row["Orig Start (ns)"]): (
                row["Projected Start (ns)"],
                row["Projected Duration (ns)"],
                row["Orig Duration (ns)"],
                row["NumGPUOps"],
            )
            for row in plain.stats("nvtx_gpu_proj_trace")
            if row["Style"] == "PushPop"
        }
        within: dict[Span, list[Record]] = defaultdict(list)
        for correlation, group in grouped(plain.log.operations, lambda each: each["correlation"]).items():
            for span in plain.ranges:
                if span.covers(plain.launches[correlation]):
                    within[span] += group
        expected = {}
        for span, operations in within.items():
            start = min(each["start"] for each in operations)
            end = max(each["end"] for each in operations)
            expected[span.name, span.start] = (start, end - start, span.end - span.start, len(operations))
        assert len(found) > 50 and found == expected

    def test_nodes(self, job: RecordedJob) -> None:
        """Operations of each node's own calls, the bytes that cross the bus among them."""
        groups = owned(job)
        for row in job.profile("summary")["tables"]["node-devices"]:
            operations = groups.pop(row["Node"], [])
            assert (row["GPU ops"], row["gpu_sum (ns)"]) == (
                len(operations),
                sum(map(duration, operations)),
            ), row
            if operations:
                assert row["Launches"] == len({each["correlation"] for each in operations})
                copied = [each for each in operations if each["kind"] not in KERNELS]
                assert row["copy_busy (ns)"] == union(copied, 0, 1 << 62)
                for column, kind in (("To device (B)", "copy_to_device"), ("To host (B)", "copy_to_host")):
                    assert row[column] == sum(each["bytes"] for each in operations if each["kind"] == kind)
        assert not groups

    def test_events(self, plain: RecordedJob) -> None:
        """All operations of node calls belong to an event."""
        tables = plain.profile("summary")["tables"]["events"]
        found = sum(row["GPU ops"] for row in tables if row["Event"].isdigit())
        assert found == sum(map(len, owned(plain).values()))

    def test_memory(self, plain: RecordedJob) -> None:
        held: dict[str, int] = {"Device": 0, "Pinned": 0}
        peaks = dict(held)
        left: dict[int, int] = {}
        for each in plain.log.allocations:
            kind = "Pinned" if each["page_locked"] else "Device"
            is_release = each["kind"] == "release"
            held[kind] += -each["bytes"] if is_release else each["bytes"]
            peaks[kind] = max(peaks[kind], held[kind])
            if is_release:
                left.pop(each["address"], None)
            else:
                left[each["address"]] = each["bytes"]
        tables = plain.profile("summary", "-s", "memory,leaks")["tables"]
        found = {row["What"]: (row["Peak (B)"], row["Last (B)"]) for row in tables["memory"]}
        for kind, peak in peaks.items():
            assert found[f"device 0 {kind}"] == (peak, held[kind])
        assert {int(row["Address"], 16): row["Size (B)"] for row in tables["leaks"]} == left
        # NVML sees the device's blocks at its own times.
        assert found["gpu0 memory_used_bytes"][0] <= plain.report["peak_bytes"]["0"]
        assert found["gpu0 memory_used_bytes"][0] > 0

    def test_roofline(self, plain: RecordedJob) -> None:
        """The estimated roofline: bytes of tensors over the time of the device, and its share of the driver's peak."""
        (rows,) = plain.profile("ncu").values()
        groups = owned(plain)
        checked = 0
        for row in rows:
            if row["Time of"] == "device":
                time = sum(map(duration, groups[row["Node"]]))
                assert row["Time (ns)"] == time and row["Device operations"] == len(groups[row["Node"]])
                bandwidth = row["Bytes in and out (B)"] / time
                assert row["Bandwidth (GB/s)"] == pytest.approx(bandwidth)
                assert row["Of peak (%)"] == pytest.approx(100 * bandwidth * 1e9 / PEAK_BANDWIDTH)
                checked += 1
        assert checked == len(groups)


class TestNvml:
    def test_only_the_used_gpu_is_sampled(self, site: Site) -> None:
        """Of three devices the job uses one, and the machine has two more, which are at their power limit."""
        job = record(site, "devices", {"devices": 3, "other_devices": 2}, device="cuda:1", nevents=1)
        sources = job.sql("SELECT DISTINCT source FROM SPNG_SAMPLE WHERE metric = 'power_watts'")
        assert sources == [("gpu1",)]
        assert job.sql("SELECT DISTINCT value FROM SPNG_SAMPLE WHERE metric = 'power_watts'") == [(120.0,)]
        assert {each["device"] for each in job.log.operations} == {1}
        assert job.sql("SELECT DISTINCT deviceId FROM CUPTI_ACTIVITY_KIND_KERNEL") == [(1,)]
        assert job.sql("SELECT text FROM SPNG_DIAG") == []
        used = job.sql("SELECT MAX(value) FROM SPNG_SAMPLE WHERE metric = 'memory_used_bytes'")
        assert 0 < used[0][0] <= job.report["peak_bytes"]["1"]
        assert job.sql("SELECT busLocation FROM TARGET_INFO_GPU WHERE id = 1") == [("0000:02:00.0",)]
