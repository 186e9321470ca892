# SPDX-License-Identifier: Apache-2.0
"""Every report on small profiles equals the answer worked out by hand."""

from __future__ import annotations

import csv
import io
import itertools

import pytest
from synthetic import START_END
from wirecell_profile.errors import MissingData, UsageError
from wirecell_profile.model.selection import Scope
from wirecell_profile.output import as_csv
from wirecell_profile.reports import all_reports, find

NAMES = (
    "cuda_api_sum cuda_api_trace cuda_gpu_kern_sum cuda_gpu_kern_gb_sum cuda_gpu_mem_time_sum cuda_gpu_mem_size_sum cuda_gpu_sum "
    "cuda_api_gpu_sum cuda_gpu_trace cuda_kern_exec_sum cuda_kern_exec_trace nvtx_sum nvtx_pushpop_sum nvtx_pushpop_trace "
    "nvtx_startend_sum nvtx_gpu_proj_sum nvtx_gpu_proj_trace nvtx_kern_sum osrt_sum cublas_sum cudnn_sum nccl_sum cccl_sum"
).split()


def rows(scope: Scope, text: str, *columns: str) -> list[list[str]]:
    """Return a report's cells as in CSV; some columns or all."""
    report, options = find(text)
    head, *body = csv.reader(io.StringIO(as_csv(report.run(scope, options))))
    chosen = [head.index(column) for column in columns] or range(len(head))
    return [[row[i] for i in chosen] for row in body]


def test_every_report_is_there() -> None:
    assert set(NAMES) == set(all_reports())


@pytest.mark.parametrize(
    "old, new",
    [
        ("gpukernsum", "cuda_gpu_kern_sum"),
        ("nvtxppsum", "nvtx_pushpop_sum"),
        ("nvtxgpuproj", "nvtx_gpu_proj_trace"),
        ("apigpusum", "cuda_api_gpu_sum"),
        ("kernexectrace", "cuda_kern_exec_trace"),
        ("osrtsum", "osrt_sum"),
    ],
)
def test_old_names(old: str, new: str) -> None:
    assert find(old)[0].name == new


def test_old_names_are_unique() -> None:
    names = list(
        itertools.chain.from_iterable((report.name, *report.aliases) for report in all_reports().values())
    )
    assert len(names) == len(set(names))


def test_unknown_reports_and_options_are_rejected() -> None:
    with pytest.raises(UsageError, match="nearest: cuda_gpu_kern_sum"):
        find("cuda_gpu_kernel_sum")
    with pytest.raises(UsageError, match="no such option"):
        find("nvtx_sum:base")


@pytest.mark.parametrize("name", NAMES)
def test_what_the_file_lacks_is_said_and_never_shown_as_zero(profile_file, name: str) -> None:
    with profile_file.writing() as file:
        file.table("NVTX_EVENTS")
    with pytest.raises(MissingData, match="does not contain"):
        rows(profile_file.scope(), name)


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("nvtx_gpu") or "kern" in name])
def test_ranges_alone_project_nothing(profile_file, name: str) -> None:
    with profile_file.writing() as file:
        file.range("range", 0, 10)
    with pytest.raises(MissingData, match="CUDA"):
        rows(profile_file.scope(), name)


def test_statistics_of_a_sum(profile_file) -> None:
    """10, 20, 60: mean 30, median 20, deviation of the sample sqrt((400 + 100 + 900) / 2) = 26.46; 90 of 100
    in all.
    """
    with profile_file.writing() as file:
        for start, duration in ((0, 60), (100, 10), (200, 20)):
            file.call("cudaLaunchKernel_v7000", start, start + duration)
        file.call("cudaFree_v3020", 300, 310)
    assert rows(profile_file.scope(), "cuda_api_sum") == [
        ["90.0", "90", "3", "30.0", "20.0", "10", "60", "26.5", "cudaLaunchKernel"],
        ["10.0", "10", "1", "10.0", "10.0", "10", "10", "0.0", "cudaFree"],
    ]


def test_median_of_an_even_number_and_rounding(profile_file) -> None:
    """1, 2: mean and median 1.5. 1, 1, 1, 2: mean 1.25, shown 1.3 as SQL rounds halves."""
    with profile_file.writing() as file:
        for name, durations in (("two", (1, 2)), ("four", (1, 1, 1, 2))):
            for duration in durations:
                file.system_call(name, 0, duration)
    assert rows(profile_file.scope(), "osrt_sum", "Name", "Avg (ns)", "Med (ns)") == [
        ["four", "1.3", "1.0"],
        ["two", "1.5", "1.5"],
    ]


def test_runtime_and_driver_calls_share_a_report(profile_file) -> None:
    with profile_file.writing() as file:
        file.call("cuLaunchKernel", 0, 5, driver=True)
        file.call("cudaLaunchKernel_v7000", 10, 30)
    assert rows(profile_file.scope(), "cuda_api_sum", "Name", "Num Calls") == [
        ["cudaLaunchKernel", "1"],
        ["cuLaunchKernel", "1"],
    ]


def test_api_trace(profile_file) -> None:
    with profile_file.writing() as file:
        file.thread_name("worker", 7, priority=20)
        file.call("cudaMalloc_v3020", 50, 60, tid=7, correlation=4, result=2)
        file.call("cudaFree_v3020", 10, 30, tid=1, correlation=3)
    assert rows(profile_file.scope(), "cuda_api_trace") == [
        ["10", "20", "cudaFree", "0", "3", "100", "1", "", ""],
        ["50", "10", "cudaMalloc", "2", "4", "100", "7", "20", "worker"],
    ]


def kernels(file) -> None:
    """Write add<int> twice in one shape, add<float> once in another, and ranges around two of the launches."""
    file.range("outer", 0, 100)
    file.range("inner", 10, 50)
    file.launch("add<int>", (20, 22), (200, 230), short="add", grid=(64, 1, 1), block=(256, 1, 1))
    file.launch("add<int>", (60, 62), (240, 250), short="add", grid=(64, 1, 1), block=(256, 1, 1))
    file.launch("add<float>", (120, 122), (260, 320), short="add", grid=(12800, 2, 1), block=(32, 4, 1))


def test_kernels_by_name(profile_file) -> None:
    with profile_file.writing() as file:
        kernels(file)
    scope = profile_file.scope()
    wanted = ("Total Time (ns)", "Instances", "Name")
    assert rows(scope, "cuda_gpu_kern_sum", *wanted) == [["60", "1", "add<float>"], ["40", "2", "add<int>"]]
    assert rows(scope, "cuda_gpu_kern_sum:base", *wanted) == [["100", "3", "add"]]
    assert rows(scope, "cuda_gpu_kern_sum:mangled", *wanted) == [
        ["60", "1", "_Zadd<float>"],
        ["40", "2", "_Zadd<int>"],
    ]
    assert rows(scope, "cuda_gpu_kern_sum:nvtx-name:base", *wanted) == [
        ["60", "1", "add"],
        ["30", "1", "inner: add"],
        ["10", "1", "outer: add"],
    ]


def test_kernels_by_grid_and_block(profile_file) -> None:
    with profile_file.writing() as file:
        kernels(file)
    assert rows(
        profile_file.scope(), "cuda_gpu_kern_gb_sum:base", "Instances", "GridXYZ", "BlockXYZ", "Name"
    ) == [
        ["1", "12800    2    1", "  32    4    1", "add"],
        ["2", "  64    1    1", " 256    1    1", "add"],
    ]


def memory(file) -> None:
    """Write a pageable upload, two downloads of 1 and 3 MB and a set."""
    file.device(0, "GPU")
    file.copy(100, 200, file.call("cudaMemcpyAsync_v3020", 0, 10), size=500_000, kind=1, source=0, target=2)
    file.copy(
        300, 400, file.call("cudaMemcpyAsync_v3020", 20, 30), size=1_000_000, kind=2, source=2, target=1
    )
    file.copy(
        400, 600, file.call("cudaMemcpyAsync_v3020", 40, 50), size=3_000_000, kind=2, source=2, target=1
    )
    file.memset(650, 750, file.call("cudaMemsetAsync_v3020", 60, 70), size=250_000, memory=2)


def test_memory_by_time_and_size(profile_file) -> None:
    with profile_file.writing() as file:
        memory(file)
    scope = profile_file.scope()
    assert rows(scope, "cuda_gpu_mem_time_sum", "Time (%)", "Total Time (ns)", "Count", "Operation") == [
        ["60.0", "300", "2", "[CUDA memcpy Device-to-Host]"],
        ["20.0", "100", "1", "[CUDA memcpy Host-to-Device]"],
        ["20.0", "100", "1", "[CUDA memset]"],
    ]
    assert rows(scope, "cuda_gpu_mem_size_sum") == [
        ["4.000", "2", "2.000", "2.000", "1.000", "3.000", "1.414", "[CUDA memcpy Device-to-Host]"],
        ["0.500", "1", "0.500", "0.500", "0.500", "0.500", "0.000", "[CUDA memcpy Host-to-Device]"],
        ["0.250", "1", "0.250", "0.250", "0.250", "0.250", "0.000", "[CUDA memset]"],
    ]


def test_device_and_host_together(profile_file) -> None:
    """Kernels 100 ns, memory 500 ns, API 6 + 40 ns."""
    with profile_file.writing() as file:
        kernels(file)
        memory(file)
    scope = profile_file.scope()
    wanted = ("Time (%)", "Category", "Operation")
    device = rows(scope, "cuda_gpu_sum:base", *wanted)
    assert device == [
        ["50.0", "MEMORY_OPER", "[CUDA memcpy Device-to-Host]"],
        ["16.7", "CUDA_KERNEL", "add"],
        ["16.7", "MEMORY_OPER", "[CUDA memcpy Host-to-Device]"],
        ["16.7", "MEMORY_OPER", "[CUDA memset]"],
    ]
    both = rows(scope, "cuda_api_gpu_sum:base", "Total Time (ns)", *wanted[1:])
    assert [row for row in both if row[1] == "CUDA_API"] == [
        ["30", "CUDA_API", "cudaMemcpyAsync"],
        ["10", "CUDA_API", "cudaMemsetAsync"],
        ["6", "CUDA_API", "cudaLaunchKernel"],
    ]
    assert [row[1:] for row in both if row[1] != "CUDA_API"] == [row[1:] for row in device]


def test_device_trace(profile_file) -> None:
    """Rows are in order of start; a copy has its memory kinds and its throughput: 0.5 MB in 100 ns = 5 000
    000 MB/s.
    """
    with profile_file.writing() as file:
        memory(file)
        file.launch(
            "kernel",
            (80, 82),
            (220, 260),
            grid=(2, 3, 4),
            block=(32, 2, 1),
            stream=9,
            registersPerThread=40,
            staticSharedMemory=1000,
            dynamicSharedMemory=48_000,
        )
    trace = rows(profile_file.scope(), "cuda_gpu_trace")
    assert trace[0] == [
        "100",
        "100",
        "1",
        *[""] * 9,
        "0.500",
        "5000000.000",
        "Pageable",
        "Device",
        "GPU (0)",
        "1",
        "",
        "7",
        "[CUDA memcpy Host-to-Device]",
    ]
    assert trace[1] == [
        "220",
        "40",
        "5",
        "2",
        "3",
        "4",
        "32",
        "2",
        "1",
        "40",
        "0.001",
        "0.048",
        "",
        "",
        "",
        "",
        "GPU (0)",
        "1",
        "",
        "9",
        "kernel",
    ]
    assert trace[4][14:16] == ["Device", ""]  # a set has one memory kind
    assert [int(row[0]) for row in trace] == [100, 220, 300, 400, 650]


def test_device_trace_of_instant_copies(profile_file) -> None:
    """A copy without duration has no throughput, not an infinite one."""
    with profile_file.writing() as file:
        file.copy(100, 100, 1)
    assert rows(profile_file.scope(), "cuda_gpu_trace", "Throughput (MB/s)") == [[""]]


def test_launch_wait_and_run(profile_file) -> None:
    """First kernel: call 10-20, kernel 50-80: A 10, Q 30, K 30, T 70. Second: call 100-160, kernel 140-150
    begins before the call returned: no queue, T 60 = the call. Third: kernel begins with the end of the call:
    no queue either, T 25.
    """
    with profile_file.writing() as file:
        file.launch("kernel", (10, 20), (50, 80))
        file.launch("kernel", (100, 160), (140, 150))
        file.launch("kernel", (200, 210), (210, 225))
        file.kernel("orphan", 300, 310, correlation=999)
    scope = profile_file.scope()
    (row,) = rows(
        scope,
        "cuda_kern_exec_sum",
        "Count",
        "QCount",
        "TAvg (ns)",
        "TMin (ns)",
        "TMax (ns)",
        "AAvg (ns)",
        "QAvg (ns)",
        "QStdDev (ns)",
        "KMed (ns)",
        "API Name",
        "Kernel Name",
    )
    assert row == ["3", "1", "51.7", "25", "70", "26.7", "30.0", "0.0", "15.0", "cudaLaunchKernel", "kernel"]
    trace = rows(
        scope,
        "cuda_kern_exec_trace",
        "API Start (ns)",
        "API Dur (ns)",
        "Queue Start (ns)",
        "Queue Dur (ns)",
        "Kernel Start (ns)",
        "Kernel Dur (ns)",
        "Total Dur (ns)",
    )
    assert trace == [
        ["10", "10", "20", "30", "50", "30", "70"],
        ["100", "60", "", "", "140", "10", "60"],
        ["200", "10", "", "", "210", "15", "25"],
    ]


def test_launches_are_grouped_by_thread_device_and_call(profile_file) -> None:
    with profile_file.writing() as file:
        file.launch("kernel", (0, 10), (20, 30), tid=1)
        file.launch("kernel", (0, 10), (20, 40), tid=2)
        file.launch("kernel", (20, 30), (40, 70), tid=1, device=1)
        file.launch("kernel", (40, 50), (60, 100), tid=1, api="cuLaunchKernel")
    keys = rows(profile_file.scope(), "cuda_kern_exec_sum", "TID", "DevId", "API Name", "TAvg (ns)")
    assert keys == [
        ["1", "0", "cuLaunchKernel", "60.0"],
        ["1", "1", "cudaLaunchKernel", "50.0"],
        ["2", "0", "cudaLaunchKernel", "40.0"],
        ["1", "0", "cudaLaunchKernel", "30.0"],
    ]


def test_nothing_waited(profile_file) -> None:
    with profile_file.writing() as file:
        file.launch("kernel", (0, 30), (20, 40))
    cells = rows(
        profile_file.scope(),
        "cuda_kern_exec_sum",
        "QCount",
        "QAvg (ns)",
        "QMed (ns)",
        "QMin (ns)",
        "QMax (ns)",
        "QStdDev (ns)",
    )
    assert cells == [["0", "", "", "", "", "0.0"]]


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
            "    library:call",
        ],
        ["20", "30", "10", "0", "10", "part", "100", "1", "2", "0", "5", "4", ":2:4:5", "        part"],
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
        ["run", "150", "150", "0", "1000", "PushPop", "100", "1", "3", "0", "2", "1", "", ":1"],
        ["upload", "150", "50", "10", "90", "PushPop", "100", "1", "1", "1", "0", "2", "1", ":1:2"],
        ["compute", "210", "90", "110", "190", "PushPop", "100", "1", "2", "1", "0", "3", "1", ":1:3"],
        ["", "1200", "30", "", "", "", "", "", "1", "", "", "", "", ""],
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
        ["", "", "1", "", "1", "30", "outside"],
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


def test_libraries_by_domain(profile_file) -> None:
    with profile_file.writing() as file:
        file.domain("cuBLASLt", 1)
        file.domain("CCCL", 2)
        file.range("cublasLtMatmul", 0, 30, domainId=1)
        file.range("cub::DeviceReduce::Sum", 0, 10, domainId=2)
    scope = profile_file.scope()
    assert rows(scope, "cublas_sum", "Total Time (ns)", "Range") == [["30", "cuBLASLt:cublasLtMatmul"]]
    assert rows(scope, "cccl_sum", "Total Time (ns)", "Range") == [["10", "CCCL:cub::DeviceReduce::Sum"]]
    with pytest.raises(MissingData, match="NCCL"):
        rows(scope, "nccl_sum")


def test_libraries_by_the_table_of_nsys(profile_file) -> None:
    with profile_file.writing() as file:
        for start in (0, 100):
            file.row(
                "CUBLAS_EVENTS",
                start=start,
                end=start + 40,
                eventClass=29,
                globalTid=file.thread(1),
                nameId=file.string("cublasSgemm"),
            )
    assert rows(profile_file.scope(), "cublas_sum", "Num Calls", "Total Time (ns)", "Name") == [
        ["2", "80", "cublasSgemm"]
    ]
