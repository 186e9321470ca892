# SPDX-License-Identifier: Apache-2.0
"""Reports of API calls on small profiles equal the answer worked out by hand."""

from __future__ import annotations

import pytest
from report_rows import rows
from wirecell_profile.errors import MissingData


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


def test_equal_totals_are_in_the_order_of_the_ids(profile_file) -> None:
    with profile_file.writing() as file:
        for name in ("zeta", "alpha"):
            file.string(name)
        file.call("alpha", 0, 10)
        file.call("zeta", 20, 30)
    assert rows(profile_file.scope(), "cuda_api_sum", "Name") == [["zeta"], ["alpha"]]


def test_equal_totals_of_openmp_are_by_table_and_id(profile_file) -> None:
    with profile_file.writing() as file:
        ids = [file.string(name) for name in ("zeta", "alpha", "last")]
        for kind, order in (("PARALLEL", (2,)), ("WAIT", (2, 1, 0))):
            for i in order:
                file.row(
                    f"OPENMP_EVENT_KIND_{kind}", start=0, end=10, nameId=ids[i], globalTid=file.thread(1)
                )
    names = [name for (name,) in rows(profile_file.scope(), "openmp_sum", "Name")]
    assert names == ["last", "zeta", "alpha", "last"]


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


def test_unknown_priority_of_a_thread(profile_file) -> None:
    with profile_file.writing() as file:
        file.thread_name("worker", 7, priority=None)
        file.call("cudaMalloc_v3020", 50, 60, tid=7)
        file.row(
            "VULKAN_API",
            start=0,
            end=5,
            eventClass=53,
            globalTid=file.thread(7),
            correlationId=1,
            nameId=file.string("vkQueueSubmit"),
            contextId=1,
        )
    for name in ("cuda_api_trace", "vulkan_api_trace"):
        assert rows(profile_file.scope(), name, "T-Pri", "Thread Name") == [["", "worker"]]


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
