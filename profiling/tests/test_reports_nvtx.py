# SPDX-License-Identifier: Apache-2.0
"""Reports of NVTX ranges on small profiles equal the answer worked out by hand."""

from __future__ import annotations

import pytest
from report_rows import rows
from synthetic import START_END
from wirecell_profile.errors import MissingData


def test_ranges_by_name_and_style(profile_file) -> None:
    """Marks are not ranges; a name in two domains is two names; cross-thread ranges count on the host."""
    with profile_file.writing() as file:
        file.domain("library", 1)
        file.range("step", 0, 60)
        file.range("step", 100, 110, domainId=1)
        file.range("step", 200, 220, style=START_END)
        file.range("step", 300, 310, style=START_END, end_tid=2)
        file.mark("step", 50)
    scope = profile_file.scope()
    assert rows(scope, "nvtx_sum", "Time (%)", "Total Time (ns)", "Instances", "Style", "Range") == [
        ["60.0", "60", "1", "PushPop", "step"],
        ["30.0", "30", "2", "StartEnd", "step"],
        ["10.0", "10", "1", "PushPop", "library:step"],
    ]
    assert rows(scope, "nvtx_pushpop_sum", "Total Time (ns)", "Range") == [
        ["60", "step"],
        ["10", "library:step"],
    ]
    assert rows(scope, "nvtx_startend_sum", "Total Time (ns)", "Range") == [["30", "step"]]


def test_a_style_that_no_range_has_is_missing(profile_file) -> None:
    with profile_file.writing() as file:
        file.range("step", 0, 60)
    with pytest.raises(MissingData, match="StartEnd"):
        rows(profile_file.scope(), "nvtx_startend_sum")


def test_push_pop_trace(profile_file) -> None:
    """The stack is per thread across domains; start/end ranges are not on it.

    Rows 2-5 of the table are the push/pop ranges.
    """
    with profile_file.writing() as file:
        file.domain("library", 1)
        file.range("run", 0, 100)
        file.range("asynchronous", 5, 95, style=START_END)
        file.range("call", 10, 40, domainId=1)
        file.range("part", 20, 30)
        file.range("elsewhere", 20, 30, tid=2)
    assert rows(profile_file.scope(), "nvtx_pushpop_trace") == [
        ["0", "100", "100", "30", "70", "run", "100", "1", "0", "1", "2", "", ":2", "run"],
        [
            "10",
            "40",
            "30",
            "10",
            "20",
            "library:call",
            "100",
            "1",
            "1",
            "1",
            "4",
            "2",
            ":2:4",
            "--library:call",
        ],
        ["20", "30", "10", "0", "10", "part", "100", "1", "2", "0", "5", "4", ":2:4:5", "----part"],
        ["20", "30", "10", "0", "10", "elsewhere", "100", "2", "0", "0", "6", "", ":6", "elsewhere"],
    ]


def projection_example(file) -> None:
    """Write run { upload {copy}  compute { first, first }  idle {} } and one kernel outside."""
    file.range("run", 0, 1000)
    file.range("upload", 10, 100)
    file.copy(150, 200, file.call("cudaMemcpyAsync_v3020", 20, 30))
    file.range("compute", 110, 300)
    file.launch("first", (120, 130), (210, 260))
    file.launch("first", (140, 150), (240, 300), stream=8)
    file.range("idle", 310, 400)
    file.launch("outside", (1100, 1110), (1200, 1230))


def test_projected_ranges_one_by_one(profile_file) -> None:
    """Ranges without device operations are omitted, also as children; operations outside come in one row
    without a name.
    """
    with profile_file.writing() as file:
        projection_example(file)
    assert rows(profile_file.scope(), "nvtx_gpu_proj_trace") == [
        ["", "1200", "30", "", "", "", "100", "1", "1", "", "0", "", "", ""],
        ["run", "150", "150", "0", "1000", "PushPop", "100", "1", "3", "0", "2", "1", "", ":1"],
        ["upload", "150", "50", "10", "90", "PushPop", "100", "1", "1", "1", "0", "2", "1", ":1:2"],
        ["compute", "210", "90", "110", "190", "PushPop", "100", "1", "2", "1", "0", "3", "1", ":1:3"],
    ]


def test_projected_ranges_by_name(profile_file) -> None:
    with profile_file.writing() as file:
        for begin in (0, 1000):
            file.range("step", begin, begin + 100)
            file.launch("kernel", (begin + 10, begin + 20), (begin + 200, begin + 240 + begin // 50))
    assert rows(profile_file.scope(), "nvtx_gpu_proj_sum") == [
        ["step", "PushPop", "100", "200", "2", "50.0", "50.0", "40", "60", "14.1", "2", "1.0", "0.0", "0.0"],
    ]


def test_projected_graph_launch_counts_once(profile_file) -> None:
    with profile_file.writing() as file:
        file.range("replay", 0, 100)
        launch = file.call("cudaGraphLaunch_v10000", 10, 20)
        for begin in (100, 200, 300):
            file.kernel("node", begin, begin + 50, launch)
    assert rows(profile_file.scope(), "nvtx_gpu_proj_sum", "Total Proj Time (ns)", "Total GPU Ops") == [
        ["250", "1"]
    ]


def test_kernels_by_range(profile_file) -> None:
    """Every range of the stack gets the kernel; memory operations do not count; kernels outside come under an
    empty name.
    """
    with profile_file.writing() as file:
        projection_example(file)
    wanted = ("NVTX Range", "Style", "TID", "NVTX Inst", "Kern Inst", "Total Time (ns)", "Kernel Name")
    assert rows(profile_file.scope(), "nvtx_kern_sum", *wanted) == [
        ["", "", "1", "0", "1", "30", "outside"],
        ["compute", "PushPop", "1", "1", "2", "110", "first"],
        ["run", "PushPop", "1", "1", "2", "110", "first"],
    ]


def test_same_name_nesting_doubles_the_time_of_kernels(profile_file) -> None:
    """One kernel of 100 ns in S { S }: two ranges, one kernel, total 200."""
    with profile_file.writing() as file:
        file.range("S", 0, 100)
        file.range("S", 10, 90)
        file.launch("kernel", (20, 30), (200, 300))
    wanted = ("NVTX Inst", "Kern Inst", "Total Time (ns)", "Avg (ns)")
    assert rows(profile_file.scope(), "nvtx_kern_sum", *wanted) == [["2", "1", "200", "100.0"]]


def test_ranges_across_threads_have_no_kernels(profile_file) -> None:
    with profile_file.writing() as file:
        file.range("across", 0, 100, style=START_END, end_tid=2)
        file.range("on one", 0, 100, style=START_END)
        file.launch("kernel", (20, 30), (200, 300))
    scope = profile_file.scope()
    assert rows(scope, "nvtx_kern_sum", "NVTX Range", "Style") == [["on one", "StartEnd"]]
    assert rows(scope, "nvtx_gpu_proj_sum", "Range") == [["on one"]]


def test_a_straddling_launch_is_unattributed(profile_file) -> None:
    with profile_file.writing() as file:
        file.range("range", 100, 200)
        file.launch("kernel", (190, 210), (300, 340))
    assert rows(profile_file.scope(), "nvtx_gpu_proj_trace", "Name", "NumGPUOps") == [["", "1"]]
    assert rows(profile_file.scope(), "nvtx_kern_sum", "NVTX Range", "Kern Inst") == [["", "1"]]
