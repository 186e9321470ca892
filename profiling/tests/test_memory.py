# SPDX-License-Identifier: Apache-2.0
"""Memory of summary: series, peaks and leaks equal values worked out by hand."""

from __future__ import annotations

import json
import sqlite3

import pytest
from wirecell_profile.cli import main
from wirecell_profile.errors import MissingData
from wirecell_profile.tables import memory_use
from wirecell_profile.units import short_size

ALLOCATION, RELEASE = 0, 1
PINNED, DEVICE, STATIC = 1, 2, 5


@pytest.fixture
def recorded(profile_file):
    """Write device memory of 100, 300, 200, 250, 50, of which 50 stay, pinned memory 7, host samples; node A
    runs 10-40.
    """
    with profile_file.writing() as file:
        file.manifest()
        file.node(1, "A", "x")
        file.node_call(1, 1, 0, 10, 40, rss=5000)
        file.node_call(2, 1, 1, 41, 42, rss=5400)

        def change(time: int, operation: int, address: int, size: int, memory: int = DEVICE, **more) -> None:
            file.row(
                "CUDA_GPU_MEMORY_USAGE_EVENTS",
                start=time,
                globalPid=file.thread(0),
                deviceId=0,
                contextId=1,
                virtualAddress=address,
                bytes=size,
                memKind=memory,
                memoryOperationType=operation,
                **more,
            )

        change(5, ALLOCATION, 0xA0, 100)
        change(20, ALLOCATION, 0xB0, 200)
        change(30, RELEASE, 0xA0, 100)
        change(35, ALLOCATION, 0xA0, 50, name="image")  # an address is used again
        change(50, RELEASE, 0xB0, 0)  # the size is that of the allocation
        change(60, ALLOCATION, 0xC0, 7, PINNED)
        change(65, ALLOCATION, 0xD0, 8, STATIC, name="__cudart_sin_cos_coeffs")  # of a module
        change(70, RELEASE, 0xFF, 9)  # from before the recording
        for time, value in ((0, 1000.0), (25, 4000.0), (80, 3000.0)):
            file.sample(time, "process", "resident_bytes", value)
        file.sample(1, "process", "cpu_ns", 9.0)
    return profile_file


def test_series(recorded) -> None:
    found = memory_use.device_memory(recorded.scope())
    series = {each.name: each.value.tolist() for each in found.series}
    assert series == {
        "device 0 Device": [100, 300, 200, 250, 50],
        "device 0 Device Static": [8],
        "device 0 Pinned": [7],
    }


def test_what_was_not_freed(recorded) -> None:
    """The constants of a module stay, but the program does not free them."""
    rows = memory_use.leaks(recorded.scope()).rows
    assert [(row[0], row[1], row[4], row[5], row[6]) for row in rows] == [
        (50, 35, "0xa0", "A:x", "image"),
        (7, 60, "0xc0", None, None),
    ]


def test_names_may_be_numbers_of_strings(profile_file) -> None:
    """Names may be indices of strings, as in nsys's exports."""
    with profile_file.writing() as file:
        name = file.string("pool")
    with sqlite3.connect(profile_file.path) as connection:
        connection.execute(
            "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start INT, globalPid INT, deviceId INT, virtualAddress "
            "INT, bytes INT, memKind INT, memoryOperationType INT, name INT)"
        )
        connection.execute(
            "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (1, 2, 0, 16, 2, 2, 0, ?)", (name,)
        )
    (row,) = memory_use.leaks(profile_file.scope()).rows
    assert row[6] == "pool"


def test_peaks(recorded) -> None:
    rows = {row[0]: row[1:] for row in memory_use.peaks(recorded.scope()).rows}
    assert rows["process resident_bytes"] == (3, 4000, 25, "A:x", 1000, 3000)
    assert rows["device 0 Device"] == (5, 300, 20, "A:x", 100, 50)
    assert "process cpu_ns" not in rows


def test_a_window(recorded) -> None:
    rows = memory_use.timeline(recorded.scope(time=(20, 40))).rows
    assert rows == [
        (20, "device 0 Device", 200),
        (25, "process resident_bytes", 4000),
        (35, "device 0 Device", 250),
    ]


def test_nothing_is_missing_quietly(profile_file) -> None:
    with profile_file.writing() as file:
        file.range("a", 0, 1)
    for table in (memory_use.peaks, memory_use.leaks, memory_use.timeline):
        with pytest.raises(MissingData):
            table(profile_file.scope())


def test_the_command(recorded, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["summary", str(recorded.path), "-s", "memory,leaks"]) == 0
    shown = capsys.readouterr().out
    assert "0xa0" in shown and "compute-sanitizer --tool memcheck --leak-check full" in shown
    assert main(["summary", str(recorded.path), "-f", "json", "-s", "leaks,nodes"]) == 0
    tables = json.loads(capsys.readouterr().out)["tables"]
    assert tables["leaks"][0]["Size (B)"] == 50 and tables["nodes"][0]["Resident growth (B)"] == 400


def test_sizes() -> None:
    assert [short_size(size) for size in (0, 999, 1234567, 84_000_000_000)] == [
        "0 B",
        "999 B",
        "1.23 MB",
        "84 GB",
    ]
