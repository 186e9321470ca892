# SPDX-License-Identifier: Apache-2.0
"""Judgement of a file's schema: its version, tables of another version, and tables without a needed column.

A table without a needed column counts as absent: parts of it would be shown as zero, as one thread or without a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

OLDEST, NEWEST = (3, 0), (3, 28)  # that the tests read
_CALLS, _MPI, _LABELS = "start end globalTid nameId", "start end globalTid textId", "start globalTid textId"
_DEVICE = "start end deviceId streamId correlationId globalPid"
_PACKETS = "start globalTid gpu context engineType"
_NETWORK = "start end globalId metricsListId metricsIdx value"
# Columns that reports need; a|b: at least one of them.
REQUIRED = {
    "NVTX_EVENTS": "start end eventType globalTid domainId text textId",
    "CUPTI_ACTIVITY_KIND_RUNTIME": f"{_CALLS} correlationId",
    "CUPTI_ACTIVITY_KIND_KERNEL": f"{_DEVICE} demangledName|shortName|mangledName",
    "CUPTI_ACTIVITY_KIND_MEMCPY": f"{_DEVICE} bytes copyKind",
    "CUPTI_ACTIVITY_KIND_MEMSET": f"{_DEVICE} bytes",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": f"{_DEVICE} graphId",
    "CUDA_GPU_MEMORY_USAGE_EVENTS": "start deviceId memKind virtualAddress bytes memoryOperationType globalPid",
    "CUDA_UM_CPU_PAGE_FAULT_EVENTS": "start address",
    "CUDA_UM_GPU_PAGE_FAULT_EVENTS": "start address numberOfPageFaults",
    "GPU_METRICS": "timestamp typeId metricId value",
    "OSRT_API": _CALLS,
    "MPI_P2P_EVENTS": f"{_MPI} tag remoteRank size",
    "MPI_COLLECTIVES_EVENTS": f"{_MPI} rootRank size recvSize",
    "MPI_START_WAIT_EVENTS": _MPI,
    "MPI_OTHER_EVENTS": _MPI,
    "NVVIDEO_ENCODER_API": _CALLS,
    "NVVIDEO_DECODER_API": _CALLS,
    "NVVIDEO_JPEG_API": _CALLS,
    "VULKAN_API": f"{_CALLS} correlationId",
    "VULKAN_DEBUG_API": f"{_LABELS} end correlationId",
    "VULKAN_WORKLOAD": f"{_LABELS} end",
    "D3D11_PIX_DEBUG_API": f"{_LABELS} end correlationId",
    "D3D12_PIX_DEBUG_API": f"{_LABELS} end correlationId",
    "DX12_WORKLOAD": f"{_LABELS} end",
    "KHR_DEBUG_EVENTS": f"{_LABELS} end eventClass id",
    "NET_NIC_METRIC": _NETWORK,
    "NET_IB_SWITCH_METRIC": _NETWORK,
    "WDDM_QUEUE_PACKET_START_EVENTS": f"{_PACKETS} submitSequence",
    "WDDM_QUEUE_PACKET_STOP_EVENTS": "start context submitSequence",
    "WDDM_DMA_PACKET_START_EVENTS": f"{_PACKETS} uliSubmissionId",
    "WDDM_DMA_PACKET_STOP_EVENTS": "start context uliCompletionId",
    "ThreadNames": "nameId globalTid",
    "PROCESSES": "globalPid name",
    "TARGET_INFO_GPU": "id name",
    "TARGET_INFO_CUDA_GPU": "deviceId name",
    "SPNG_CALL": "id node event globalTid start end",
    "SPNG_CALL_CORRELATION": "correlationId call globalPid",
    "SPNG_NODE": "id type name",
    "SPNG_EDGE": "id tail head",
    "SPNG_MSG": "edge event enq deq",
    "SPNG_EVENT": "event globalPid whole",
    "SPNG_SAMPLE": "t source metric value",
}

# table -> its content, for messages about missing data
CONTENTS = {
    "NVTX_EVENTS": "NVTX ranges",
    "CUPTI_ACTIVITY_KIND_RUNTIME": "CUDA API calls",
    "CUPTI_ACTIVITY_KIND_KERNEL": "CUDA kernels",
    "CUPTI_ACTIVITY_KIND_MEMCPY": "CUDA memory copies",
    "CUPTI_ACTIVITY_KIND_MEMSET": "CUDA memory sets",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": "CUDA graphs",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": "CUDA synchronisation",
    "CUDA_GPU_MEMORY_USAGE_EVENTS": "device memory allocations",
    "GPU_METRICS": "GPU metrics",
    "OSRT_API": "calls of the operating system's runtime",
    "CUDA_UM_CPU_PAGE_FAULT_EVENTS": "page faults of unified memory on the CPU",
    "CUDA_UM_GPU_PAGE_FAULT_EVENTS": "page faults of unified memory on the GPU",
    "OPENMP_EVENT_KIND_*": "OpenMP events",
    "CUPTI_ACTIVITY_KIND_OPENACC_*": "OpenACC events",
    "MPI_P2P_EVENTS": "MPI calls",
    "MPI_COLLECTIVES_EVENTS": "MPI calls",
    "MPI_START_WAIT_EVENTS": "MPI calls",
    "MPI_OTHER_EVENTS": "MPI calls",
    "NET_NIC_METRIC": "metrics of network cards",
    "NET_IB_SWITCH_METRIC": "metrics of InfiniBand switches",
    "NVVIDEO_ENCODER_API": "calls of NVIDIA's video libraries",
    "NVVIDEO_DECODER_API": "calls of NVIDIA's video libraries",
    "NVVIDEO_JPEG_API": "calls of NVIDIA's video libraries",
    "VULKAN_API": "Vulkan calls",
    "VULKAN_DEBUG_API": "Vulkan debug labels",
    "VULKAN_WORKLOAD": "Vulkan work on the GPU",
    "KHR_DEBUG_EVENTS": "OpenGL KHR_debug groups",
    "D3D11_PIX_DEBUG_API": "DX11 PIX ranges",
    "D3D12_PIX_DEBUG_API": "DX12 PIX ranges",
    "DX12_WORKLOAD": "DX12 work on the GPU",
    "WDDM_QUEUE_PACKET_START_EVENTS": "packets of WDDM queues",
    "WDDM_DMA_PACKET_START_EVENTS": "packets of WDDM queues",
    "SPNG_CALL": "node calls of wire-cell's recorder",
    "SPNG_EDGE": "edges of the graph",
    "SPNG_SAMPLE": "samples of wire-cell's recorder",
}


def version_of(export: Mapping[str, str]) -> str:
    """Return the version of the schema from the metadata of an export, empty if they lack it."""
    parts = (export.get(f"EXPORT_SCHEMA_VERSION_{part}", "") for part in ("MAJOR", "MINOR", "MICRO"))
    return export.get("EXPORT_SCHEMA_VERSION") or ".".join(filter(None, parts))


def doubt_of_version(version: str) -> str:
    """Return the reason to doubt that a file of this version is read completely, or nothing."""
    found = re.match(r"(\d{1,9})\.(\d{1,9})(\.|$)", version)
    known = f"this program knows {'.'.join(map(str, OLDEST))} to {'.'.join(map(str, NEWEST))}"
    if not found:
        return f"its schema has the version {version!r}; {known}" if version else ""
    parts = int(found[1]), int(found[2])
    order = "newer" if parts > NEWEST else "older" if parts < OLDEST else ""
    return f"its schema {version} is {order}; {known}, so data may be missing" if order else ""


def unknown_variants(tables: Iterable[str], known: Iterable[str]) -> dict[str, str]:
    """Return table -> its reason for the known tables of which the file has another version instead, such as NAME_V2."""
    present = set(tables)
    found = {}
    for name in known:
        others = sorted(
            table for table in present if table.startswith(name) and table not in (*REQUIRED, name)
        )
        if others and name not in present:
            found[name] = f"its table {', '.join(others)} is unknown"
    return found


def lacking(table: str, columns: Iterable[str]) -> str:
    """Return the reason why a table cannot be read without these columns, or nothing."""
    present = set(columns)
    absent = [
        " or ".join(choices)
        for choices in (word.split("|") for word in REQUIRED.get(table, "").split())
        if not present.intersection(choices)
    ]
    return f"its table {table} has no column {', '.join(absent)}" if absent else ""
