# SPDX-License-Identifier: Apache-2.0
"""Reports by name: each is there, and says what a profile lacks."""

from __future__ import annotations

import itertools

import pytest
from report_rows import rows
from wirecell_profile.errors import MissingData, UsageError
from wirecell_profile.reports import all_reports, find

NAMES = (
    "cuda_api_sum cuda_api_trace cuda_gpu_kern_sum cuda_gpu_kern_gb_sum cuda_gpu_mem_time_sum cuda_gpu_mem_size_sum cuda_gpu_sum "
    "cuda_api_gpu_sum cuda_gpu_trace cuda_kern_exec_sum cuda_kern_exec_trace nvtx_sum nvtx_pushpop_sum nvtx_pushpop_trace "
    "nvtx_startend_sum nvtx_gpu_proj_sum nvtx_gpu_proj_trace nvtx_kern_sum osrt_sum cublas_sum cudnn_sum nccl_sum cccl_sum "
    "um_sum um_total_sum um_cpu_page_faults_sum openmp_sum openacc_sum mpi_event_sum mpi_event_trace mpi_msg_size_sum "
    "network_congestion nvvideo_api_sum vulkan_api_sum vulkan_api_trace vulkan_marker_sum vulkan_gpu_marker_sum "
    "dx11_pix_sum dx12_pix_sum dx12_gpu_marker_sum opengl_khr_range_sum opengl_khr_gpu_range_sum wddm_queue_sum"
).split()


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
        ("cublassum", "cublas_sum"),
        ("unifiedmemory", "um_sum"),
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
    for text in ("um_sum:rows=", "um_sum:rows", "um_sum:rows=x"):
        with pytest.raises(UsageError, match="no such option"):
            find(text)


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
