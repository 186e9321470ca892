# SPDX-License-Identifier: Apache-2.0
"""Reports of work on devices on small profiles equal the answer worked out by hand."""

from __future__ import annotations

from report_rows import rows


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
        ["30", "1", "inner/add"],
        ["10", "1", "outer/add"],
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


def test_sets_of_unknown_size(profile_file) -> None:
    """The set of unknown size is left out."""
    with profile_file.writing() as file:
        memory(file)
        file.memset(800, 900, file.call("cudaMemsetAsync_v3020", 80, 90), size=None)
    assert rows(profile_file.scope(), "cuda_gpu_mem_size_sum", "Total (MB)", "Count", "Operation")[2:] == [
        ["0.250", "1", "[CUDA memset]"]
    ]


def test_kernels_of_unknown_grid(profile_file) -> None:
    with profile_file.writing() as file:
        file.launch("kernel", (0, 10), (20, 30), grid=(None, 1, 1))
        file.launch("kernel", (40, 50), (60, 80), grid=(5, 1, 1))
    scope = profile_file.scope()
    assert rows(scope, "cuda_gpu_kern_gb_sum", "GridXYZ", "BlockXYZ") == [
        ["   5    1    1", "  32    1    1"],
        ["", "  32    1    1"],
    ]
    assert rows(scope, "cuda_kern_exec_trace", "GridXYZ") == [[""], ["   5    1    1"]]


def migrations_and_faults(file, *sizes: tuple[int | None, int | None]) -> None:
    """Write migrations to the device of (bytes, address), one to the host and a fault on each side."""
    for start, (size, address) in enumerate(sizes):
        file.copy(100 * start, 100 * start + 50, start, size=size, kind=11, virtualAddress=address)
    file.copy(900, 950, 99, size=1_000_000, kind=12, virtualAddress=0x30)
    file.row("CUDA_UM_CPU_PAGE_FAULT_EVENTS", start=1, globalPid=file.thread(0), address=0x20)
    file.row(
        "CUDA_UM_GPU_PAGE_FAULT_EVENTS", start=1, globalPid=file.thread(0), address=0x20, numberOfPageFaults=3
    )


def test_migrations_of_unknown_size_or_address(profile_file) -> None:
    with profile_file.writing() as file:
        migrations_and_faults(file, (2_000_000, 0x10), (None, 0x10), (500_000, None))
    scope = profile_file.scope()
    assert rows(scope, "um_total_sum") == [["2.500", "1.000", "1", "3", "0x10", "0x30"]]
    sizes = dict(rows(scope, "um_sum", "Virtual Address", "HtoD Migration size (MB)"))
    assert sizes == {"0x10": "2.000", "": "0.500", "0x30": "", "0x20": ""}


def test_source_lines_of_openacc(profile_file) -> None:
    """The line, and the file, are left out if the file does not have them."""
    with profile_file.writing() as file:
        for line, source in ((7, "a.f90"), (None, "a.f90"), (7, None)):
            file.row(
                "CUPTI_ACTIVITY_KIND_OPENACC_DATA",
                start=0,
                end=10,
                nameId=file.string("Enter Data"),
                globalTid=file.thread(1),
                lineNo=line,
                srcFile=source and file.string(source),
            )
    names = [row[0] for row in rows(profile_file.scope(), "openacc_sum", "Name")]
    assert names == ["Enter Data", "Enter Data@a.f90", "Enter Data@a.f90:7"]


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
        ["16.7", "MEMORY_OPER", "[CUDA memcpy Host-to-Device]"],
        ["16.7", "MEMORY_OPER", "[CUDA memset]"],
        ["16.7", "CUDA_KERNEL", "add"],
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
    Q 0, T 25.
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
    assert row == ["3", "2", "51.7", "25", "70", "26.7", "15.0", "21.2", "15.0", "cudaLaunchKernel", "kernel"]
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
        ["200", "10", "210", "0", "210", "15", "25"],
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
