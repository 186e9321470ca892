# SPDX-License-Identifier: Apache-2.0
"""Exports of other programs: ranges outside of W, files without copies, several devices, busy copying."""

from __future__ import annotations

import pytest
from test_rules import find, storm
from wirecell_profile.compare.readers import read_runs
from wirecell_profile.errors import MissingData
from wirecell_profile.html.overview import charts, tiles
from wirecell_profile.model.window import find_window
from wirecell_profile.tables import device_use, node_use, range_use
from wirecell_profile.tables.timeline import timeline


def test_ranges_outside_of_the_window_have_no_share_of_it(profile_file) -> None:
    """W is 100 to 200: first to last device operation."""
    with profile_file.writing() as file:
        file.range("inner", 120, 900)  # written before the range around it
        file.range("outer", 50, 1000)
        file.range("loading", 0, 40)
        file.launch("first", (60, 70), (100, 110))
        file.launch("last", (130, 140), (150, 200))
    scope = profile_file.scope()
    shares = {row["Range"]: row["Share of W (%)"] for row in range_use.times(scope).records()}
    assert shares == {"inner": 80.0, "outer": 20.0, "loading": 0.0}


def test_calls_that_leave_the_window_have_a_share_of_their_part(profile_file) -> None:
    with profile_file.writing() as file:
        file.manifest()
        file.domain("spng", 1)
        file.range("run", 0, 1000, domainId=1)
        file.node(1, "A", "")
        file.node_call(1, 1, 0, 100, 700)
    (row,) = node_use.times(profile_file.scope(time=(0, 400))).records()
    assert (row["Exclusive (ns)"], row["Share of W (%)"]) == (600, 75.0)


def test_copies_that_a_file_lacks_are_not_zero(profile_file) -> None:
    with profile_file.writing() as file:
        file.range("step", 0, 50)
        file.launch("k", (0, 10), (20, 40))
    scope = profile_file.scope()
    utilisation = {row["Quantity"]: row for row in device_use.utilisation(scope).records()}
    assert utilisation["kernel_busy"]["Time (ns)"] == 20
    assert not utilisation.keys() & {"copy_busy", "overlap", "field: work fraction", "field: I-O fraction"}
    (stream,) = device_use.streams(scope).records()
    assert (stream["Kernels"], stream["Copies"]) == (1, None)
    (step,) = range_use.devices(scope).records()
    assert (step["GPU ops"], step["To device (B)"], step["To host (B)"]) == (1, None, None)
    with pytest.raises(MissingData, match="CUDA memory copies"):
        device_use.bus(scope)
    tables = {"utilisation": device_use.utilisation(scope)}
    assert charts(scope, find_window(scope), tables)[0].heading == "What GPU 0 did during W"


def test_kernels_that_a_file_lacks_are_not_zero(profile_file) -> None:
    with profile_file.writing() as file:
        file.copy(20, 40, file.call("cudaMemcpyAsync", 0, 10))
    scope = profile_file.scope()
    tables = {"utilisation": device_use.utilisation(scope)}
    assert "kernel_busy" not in {row["Quantity"] for row in tables["utilisation"].records()}
    assert (
        "100.0 %",
        "GPU 0 utilisation",
        "gpu_busy / W (union), kernels not recorded",
    ) in tiles(scope, find_window(scope), tables)


def test_payloads_of_other_programs_are_no_events(profile_file) -> None:
    with profile_file.writing() as file:
        file.domain("theirs", 3)
        file.range("ncclAllReduce", 0, 10, domainId=3, event=4096)
    (row,) = timeline(profile_file.scope()).records()
    assert row["Notes"] is None


def test_a_device_that_copies_is_not_called_well_used(profile_file) -> None:
    """Copies for 900 of 1000 ns, kernels for 100 ns."""
    with profile_file.writing() as file:
        file.copy(100, 1000, file.call("cudaMemcpyAsync", 0, 10))
        file.launch("k", (20, 30), (1000, 1100))
    scope = profile_file.scope()
    (hit,) = find(scope, "gpu_copies").hits
    assert (hit.duration, hit.note) == (900, "device 0, 100.0 % of W busy, 10.0 % by kernels")
    tables = {"utilisation": device_use.utilisation(scope)}
    assert (
        "100.0 %",
        "GPU 0 utilisation",
        "gpu_busy / W (union), kernels 10.0 %",
    ) in tiles(scope, find_window(scope), tables)


def test_low_utilisation_names_the_kernels_part(profile_file) -> None:
    with profile_file.writing() as file:
        file.copy(0, 300, file.call("cudaMemcpyAsync", 0, 10))
        file.launch("k", (20, 30), (900, 1000))
    (hit,) = find(profile_file.scope(), "gpu_time_util", chunks=1).hits
    assert hit.note == "device 0, 40.0 % busy, 10.0 % by kernels"


def test_storms_outside_of_ranges_are_one_per_device(profile_file) -> None:
    """120 kernels on each of two devices, with a pause of 1 s that is not lost in the storm."""
    with profile_file.writing() as file:
        for device in (0, 1):
            for begun in (0, 1_000_000_000):
                storm(file, 60, begun + device * 500_000_000, device=device)
    hits = find(profile_file.scope(), "launch_storm").hits
    assert [(hit.what, hit.duration, hit.note.split(",")[0]) for hit in hits] == [
        ("120 launches", 120 * 2_000, "device 0"),
        ("120 launches", 120 * 2_000, "device 1"),
    ]


def test_processes_of_an_export_are_separate_runs(profile_file) -> None:
    with profile_file.writing() as file:
        for pid, length in ((100, 10), (200, 30)):
            for begun in (0, 100):
                file.range("step", begun, begun + length, pid=pid)
    runs = read_runs(profile_file.path)
    assert [(run.source.split(", ")[1], run.times["wall"]["step"].tolist()) for run in runs] == [
        ("process 100", [10, 10]),
        ("process 200", [30, 30]),
    ]


def test_calls_without_recorded_result_did_not_fail(profile_file) -> None:
    with profile_file.writing() as file:
        file.call("cudaLaunchKernel", 0, 10, result=None)
    assert not find(profile_file.scope(), "api_errors").hits
