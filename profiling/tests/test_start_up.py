# SPDX-License-Identifier: Apache-2.0
"""Time before the first node call, from the ranges of the domain spng.startup: every value worked out by hand."""

from __future__ import annotations

import pytest
from wirecell_profile.errors import MissingData
from wirecell_profile.html.start_up import start_up_chart
from wirecell_profile.tables.start_up import phases


def write_start_up(file, pid: int | None = None, shift: int = 0) -> None:
    """Write 10-30 configuration; 40-140 network, which prepares the device 50-70 and loads 80-120; run from 150."""
    file.domain("spng", 1, pid)
    file.domain("spng.startup", 2, pid)
    for name, start, end, domain in (
        ("read configuration", 10, 30, 2),
        ("prepare Network:u", 40, 140, 2),
        ("prepare Context", 50, 70, 2),
        ("FileReader::read", 82, 90, 1),  # a step of another domain takes nothing away
        ("load network", 80, 120, 2),
        ("run", 145, 400, 1),
        ("prepare late", 200, 210, 2),  # after the first call
    ):
        file.range(name, start + shift, end + shift, pid=pid, domainId=domain)
    file.range("SPNGDecon:u", 150 + shift, 300 + shift, pid=pid, domainId=1, event=0)


PHASES = [
    ("read configuration", 20, 10),
    ("prepare Network:u", 40, 40),
    ("  prepare Context", 20, 50),
    ("  load network", 40, 80),
]


def test_a_recording_counts_from_the_start_of_the_process(profile_file) -> None:
    with profile_file.writing() as file:
        file.manifest(what="calls,nvtx", process_age_ns="50")
        write_start_up(file)
    rows = [(name, time, start) for name, time, _, start in phases(profile_file.scope()).rows]
    assert rows == [
        ("load program, start recorder", 60, -50),
        *PHASES,
        ("other", 20, None),
        ("until the first node call", 200, -50),
    ]
    shares = [share for _, _, share, _ in phases(profile_file.scope()).rows]
    assert shares == [30, 10, 20, 10, 20, 10, 100]


def test_short_phases_are_together_with_the_time_between(profile_file) -> None:
    with profile_file.writing() as file:
        file.domain("spng", 1)
        file.domain("spng.startup", 2)
        file.range("read configuration", 0, 5000, domainId=2)
        file.range("prepare Fan", 6000, 6009, domainId=2)
        file.range("prepare Filter", 7000, 7010, domainId=2)
        file.range("SPNGDecon:u", 10000, 10100, domainId=1, event=0)
    rows = [(name, time) for name, time, _, _ in phases(profile_file.scope()).rows]
    assert rows == [
        ("read configuration", 5000),
        ("prepare Filter", 10),
        ("other", 4990),
        ("until the first node call", 10000),
    ]


def test_an_export_counts_from_the_first_phase(profile_file) -> None:
    with profile_file.writing() as file:
        write_start_up(file)
    rows = [(name, time, start) for name, time, _, start in phases(profile_file.scope()).rows]
    assert rows == [*PHASES, ("other", 20, None), ("until the first node call", 140, 10)]


def test_each_process_has_its_own_start_up(profile_file) -> None:
    with profile_file.writing() as file:
        file.manifest(what="calls,nvtx", process_age_ns="50, 60")
        write_start_up(file, pid=100)
        write_start_up(file, pid=200, shift=1000)
    rows = phases(profile_file.scope()).rows
    assert [row[0] for row in rows if "until" in row[0]] == [
        "process 100: until the first node call",
        "process 200: until the first node call",
    ]
    assert [row[1] for row in rows if "until" in row[0]] == [140, 140]
    assert sum(row[1] for row in rows) == 4 * 140
    [chart] = start_up_chart(phases(profile_file.scope()))
    assert chart.caption.startswith("140 ns, 140 ns until the first node call")


def test_what_is_not_recorded_is_missing(profile_file) -> None:
    with profile_file.writing() as file:
        file.domain("spng", 1)
        file.range("SPNGDecon:u", 150, 300, domainId=1, event=0)
    with pytest.raises(MissingData, match="does not contain ranges of the start-up"):
        phases(profile_file.scope())
    with pytest.raises(MissingData, match="outside of the selected part"):
        phases(profile_file.scope(events=(0, 0)))
    assert start_up_chart(None) == []


def test_a_process_without_phases_before_its_first_call_is_left_out(profile_file) -> None:
    with profile_file.writing() as file:
        file.manifest(what="calls,nvtx")
        write_start_up(file, pid=100)
        file.domain("spng", 1, 200)
        file.domain("spng.startup", 2, 200)
        file.range("SPNGDecon:u", 150, 300, pid=200, domainId=1, event=0)
        file.range("prepare late", 200, 210, pid=200, domainId=2)
    rows = phases(profile_file.scope()).rows
    assert [row[:2] for row in rows if "until" in row[0]] == [("process 100: until the first node call", 140)]


def test_phases_after_the_first_call_only_are_missing(profile_file) -> None:
    with profile_file.writing() as file:
        file.domain("spng", 1)
        file.domain("spng.startup", 2)
        file.range("SPNGDecon:u", 150, 300, domainId=1, event=0)
        file.range("prepare late", 200, 210, domainId=2)
    with pytest.raises(MissingData, match="does not contain ranges of the start-up"):
        phases(profile_file.scope())


def test_parallel_phases_count_once_in_the_other_time(profile_file) -> None:
    """Two threads prepare at 10-60 and 20-80; 20 of the 90 until the first call at 100 are in neither."""
    with profile_file.writing() as file:
        file.domain("spng", 1)
        file.domain("spng.startup", 2)
        file.range("load one", 10, 60, tid=1, domainId=2)
        file.range("load two", 20, 80, tid=2, domainId=2)
        file.range("SPNGDecon:u", 100, 300, domainId=1, event=0)
    rows = [(name, time) for name, time, _, _ in phases(profile_file.scope()).rows]
    assert rows == [("load one", 50), ("load two", 60), ("other", 20), ("until the first node call", 90)]


def test_a_phase_across_the_first_call_ends_with_it(profile_file) -> None:
    """Of 40-500 only 40-100 is before the call on the other thread, and 50-100 of it is in a phase inside."""
    with profile_file.writing() as file:
        file.domain("spng", 1)
        file.domain("spng.startup", 2)
        file.range("read configuration", 0, 30, tid=2, domainId=2)
        file.range("warm up cuda:0", 40, 500, tid=2, domainId=2)
        file.range("load network", 50, 400, tid=2, domainId=2)
        file.range("SPNGDecon:u", 100, 300, tid=1, domainId=1, event=0)
    rows = [(name, time) for name, time, _, _ in phases(profile_file.scope()).rows]
    assert rows == [
        ("read configuration", 30),
        ("warm up cuda:0", 10),
        ("  load network", 50),
        ("other", 10),
        ("until the first node call", 100),
    ]
