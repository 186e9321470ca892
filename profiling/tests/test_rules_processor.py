# SPDX-License-Identifier: Apache-2.0
"""Rules for the processor find waits, files, first events, idle cores and other programs of known size."""

from __future__ import annotations

import pytest
from synthetic import Synthetic
from wirecell_profile.errors import MissingData
from wirecell_profile.rules import Found, Limits, all_rules

MS = 1_000_000


def find(profile_file, name: str) -> Found:
    """Return the findings of a rule."""
    return all_rules()[name].run(profile_file.scope(), Limits())


def outcome(found: Found) -> list[tuple[str, float]]:
    """Return what was found, with the lost time [ms]."""
    return [(hit.what, hit.duration / MS) for hit in found.hits]


def begin(file: Synthetic, **manifest: str) -> None:
    """Write a run of 1 s, and nodes A, B, and a source."""
    file.manifest(**{"what": "calls,nvtx,samples", "device": "cpu", "cpu_cores": "4"} | manifest)
    file.domain("spng", 1)
    file.category("source", 3, 1)
    file.range("run", 0, 1000 * MS, domainId=1)
    for index, name in enumerate(("A", "B", "Source")):
        file.node(index, name, "")


def call(file: Synthetic, node: int, event: int, start: int, end: int, cpu: int | None = None) -> None:
    """Write a call with its range [ms]."""
    category = {"category": 3} if node == 2 else {}
    file.range("A B Source".split()[node], start * MS, end * MS, domainId=1, event=event, **category)
    measured = {} if cpu is None else {"cpu": cpu * MS}
    file.node_call(1000 * node + start, node, event, start * MS, end * MS, **measured)


def test_waits_are_those_of_the_call_itself(profile_file) -> None:
    """A waits 120 of its own 200 ms, besides the call of B in it, which computes; a wait of 20 % is none."""
    with profile_file.writing() as file:
        begin(file)
        call(file, 0, 0, 0, 300, 180)
        call(file, 1, 0, 100, 200, 100)
        call(file, 1, 1, 400, 500, 80)
        call(file, 2, 1, 600, 700, 0)
        file.node_call(9, 1, 1, 700 * MS, 800 * MS)  # not measured
    found = find(profile_file, "node_waits")
    assert outcome(found) == [("A", 120)] and found.hits[0].note == "the thread ran 80.0 of 200.0 ms"
    ranges = profile_file.profile().ranges
    assert ranges.text.text(found.hits[0].range_row) == "A"


@pytest.mark.parametrize(("ends", "found"), [([49], []), ([49, 60], [("A", 49), ("A", 10)])])
def test_waits_below_a_share_of_the_run_are_not_reported(ends: list[int], found: list, profile_file) -> None:
    with profile_file.writing() as file:
        begin(file)
        for event, end in enumerate(ends):
            call(file, 0, event, 50 * event, end, 0)
    assert outcome(find(profile_file, "node_waits")) == found


def test_without_measured_times_waits_are_unknown(profile_file) -> None:
    with profile_file.writing() as file:
        begin(file)
        call(file, 0, 0, 0, 500)
    with pytest.raises(MissingData, match="does not contain the processor time of node calls"):
        find(profile_file, "node_waits")


def test_files_on_the_threads_of_nodes(profile_file) -> None:
    """The source's call counts once, with its inner range; the thread that reads ahead costs nothing."""
    with profile_file.writing() as file:
        begin(file)
        file.category("io", 18, 1)
        call(file, 2, 0, 0, 70, 1)
        file.range("Reader::next", 10 * MS, 60 * MS, domainId=1, category=18)
        file.range("Reader::next", 100 * MS, 900 * MS, tid=2, domainId=1, category=18)
        call(file, 0, 0, 70, 500, 430)
        file.range("Writer::close", 510 * MS, 530 * MS, domainId=1, category=18)
    assert outcome(find(profile_file, "file_waits")) == [("Source", 70), ("Writer::close", 20)]


@pytest.mark.parametrize(
    ("latencies", "found"),
    [
        ([200, 90, 100, 130], [("first event", 100)]),
        ([140, 90, 100, 130], []),
        ([500, 100], []),  # one event is no median
    ],
)
def test_first_event(latencies: list[int], found: list, profile_file) -> None:
    with profile_file.writing() as file:
        begin(file)
        for event, latency in enumerate(latencies):
            call(file, 0, event, 250 * event, 250 * event + latency, latency)
    assert outcome(find(profile_file, "first_event")) == found


@pytest.mark.parametrize(
    ("own", "machine", "idle", "others"),
    [
        (1.0, None, [("idle cores", 750)], None),
        (1.0, 1.2, [("idle cores", 700)], []),
        (1.0, 3.0, [], [("other programs", 500)]),
        (3.9, 4.0, [], []),
        (2.0, 1.9, [("idle cores", 500)], []),  # the machine's clock counts in ticks
    ],
)
def test_cores(own: float, machine: float | None, idle: list, others: list | None, profile_file) -> None:
    """Of 4 cores the run used `own`, all programs `machine`. Work outside of the run does not count."""
    with profile_file.writing() as file:
        begin(file, threads="1", engine="Pgrapher")
        call(file, 0, 0, 0, 1000, 1000)
        for source, cores in (("process", own), ("machine", machine)):
            if cores is not None:
                for time in range(-100, 1201, 100):  # 4 cores work before and after the run
                    value = 4 * (time - min(max(time, 0), 1000)) + cores * min(max(time, 0), 1000)
                    file.sample(time * MS, source, "cpu_ns", 1e12 + value * MS)
    assert outcome(find(profile_file, "idle_cores")) == idle
    if others is None:
        with pytest.raises(MissingData, match="samples of the processor time of the machine"):
            find(profile_file, "other_programs")
    else:
        assert outcome(find(profile_file, "other_programs")) == others


def test_idle_cores_of_a_job_on_a_device_are_normal(profile_file) -> None:
    with profile_file.writing() as file:
        begin(file, device="cuda:0")
        file.sample(0, "process", "cpu_ns", 0)
        file.sample(1000 * MS, "process", "cpu_ns", 0)
    with pytest.raises(MissingData, match="runs on cuda:0"):
        find(profile_file, "idle_cores")


def test_samples_before_the_run_tell_nothing(profile_file) -> None:
    with profile_file.writing() as file:
        begin(file)
        file.sample(-2000 * MS, "process", "cpu_ns", 0)
        file.sample(-1000 * MS, "process", "cpu_ns", 0)
    with pytest.raises(MissingData, match="does not contain samples of the processor time of the process"):
        find(profile_file, "idle_cores")
