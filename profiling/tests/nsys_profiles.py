# SPDX-License-Identifier: Apache-2.0
"""Synthetic profiles whose reports nsys printed too: data/NAME.nsys.txt has its text.

Run as a program, it writes them into a folder, for bench/nsys_agreement.py.
"""

from __future__ import annotations

import sys
from pathlib import Path

from synthetic import START_END, Synthetic


def nested(file: Synthetic) -> None:
    """Two processes, threads and devices; overlapping and open ranges; work outside of ranges; equal totals."""
    for device in (0, 1):
        file.row("TARGET_INFO_GPU", id=device, name=f"GPU model {device}")
    file.row("ThreadNames", nameId=file.string("main"), priority=20, globalTid=file.thread(1))
    file.domain("lib", 5)
    file.domain("other process", 5, pid=200)
    file.range("job", 0, 10_000)
    for step in range(6):
        start = 100 + 1_000 * step
        file.range("step", start, start + 900)
        file.range(f"part {step % 2}", start + 10, start + 400, domainId=5)
        file.range("step", start + 20, start + 300)  # in a range of the same name
        file.range("async", start + 5, start + 350, style=START_END)
        file.range("late", start + 15, start + 600, style=START_END)
        file.range("empty", start + 450, start + 450)
        file.launch(
            "void kernel<float>(int)",
            (start + 30, start + 40),
            (start + 50, start + 90 + step % 3),
            short="kernel",
            device=step % 2,
            grid=(step + 1, 2, 3),
        )
        file.launch("other", (start + 320, start + 330), (start + 325, start + 366), grid=(64, 1, 1))
        file.launch("same total", (start + 500, start + 510), (start + 2_500, start + 2_541))
        file.launch("alike in total", (start + 520, start + 530), (start + 2_600, start + 2_641))
        file.copy(
            start + 700,
            start + 750 + step,
            file.call("cudaMemcpyAsync_v3020", start + 610, start + 620),
            size=1 << 20,
            kind=(1, 2, 8)[step % 3],
            device=step % 2,
            stream=step,
        )
    file.memset(12_000, 12_050, file.call("cudaMemsetAsync_v3020", 11_000, 11_010), size=4096)
    file.launch("outside", (11_100, 11_110), (11_200, 11_230))
    file.launch("across the end", (9_990, 10_010), (10_100, 10_150))
    file.range("across threads", 20, 9_000, style=START_END, end_tid=2)
    file.range("worker", 50, 9_500, 2)
    file.launch("by a worker", (60, 70), (80, 120), 2)
    file.launch("outside", (9_600, 9_610), (9_700, 9_730), 2)
    file.launch("starts when the call ends", (7_000, 7_010), (7_010, 7_030))
    graph = file.call("cudaGraphLaunch_v10000", 8_000, 8_020)
    for node in range(3):
        file.kernel("node of a graph", 8_100 + 50 * node, 8_140 + 50 * node, graph)
    file.kernel("without a call", 8_500, 8_550, 99_999)
    file.range("step", 100, 2_000, pid=200, domainId=5)
    call = file.call("cudaLaunchKernel_v7000", 200, 250, correlation=7_000, pid=200)
    file.kernel("void kernel<float>(int)", 300, 340, call, pid=200, short="kernel")
    file.mark("mark", 5_000)
    file.range("never closed", 9_400, None, 3)
    file.row(
        "OSRT_API", start=0, end=50, eventClass=27, globalTid=file.thread(1), nameId=file.string("write")
    )
    file.row(
        "OSRT_API", start=60, end=110, eventClass=27, globalTid=file.thread(2), nameId=file.string("read")
    )


def other_tables(file: Synthetic) -> None:
    """Every table that a report of nsys reads and that CUDA programs on Linux rarely have."""
    thread, name = file.thread(1), file.string
    file.row("ThreadNames", nameId=name("main"), priority=20, globalTid=thread)
    _unified_memory(file)
    for step in range(4):
        start, times = 1_000 * step, {"globalTid": thread}
        for kind, event in (("PARALLEL", "Parallel"), ("WAIT", "Barrier"), ("WAIT", "Critical section")):
            length = 100 + 10 * step + len(event)
            file.row(
                f"OPENMP_EVENT_KIND_{kind}", start=start, end=start + length, nameId=name(event), **times
            )
        for table, event, line in (("DATA", "Alloc", 7), ("LAUNCH", "Launch", 9), ("DATA", "Create", None)):
            source = {"srcFile": name("a.f90"), "lineNo": line} if line else {}
            file.row(
                f"CUPTI_ACTIVITY_KIND_OPENACC_{table}",
                start=start,
                end=start + 70 + 3 * step * (line or 1),
                nameId=name(event),
                eventKind=1,
                **source,
                **times,
            )
        for library, function in (("ENCODER", "NvEncEncodePicture"), ("DECODER", "cuvidDecodePicture_v1000")):
            file.row(
                f"NVVIDEO_{library}_API", start=start, end=start + 500 + step, nameId=name(function), **times
            )
        _graphics(file, step)
        _mpi(file, step)
        file.row(
            "NET_NIC_METRIC",
            start=start,
            end=start + 500,
            globalId=70,
            metricsListId=1,
            metricsIdx=2,
            value=400 * step,
        )
        file.row(
            "NET_IB_SWITCH_METRIC",
            start=start + 5,
            end=start + 500,
            globalId=-5,
            metricsListId=1,
            metricsIdx=1 + step % 2,
            value=6_000 * step,
        )
        for kind, opening, closing in (
            ("QUEUE", "submitSequence", "submitSequence"),
            ("DMA", "uliSubmissionId", "uliCompletionId"),
        ):
            for engine in (1, 6, 0):
                packet = {"gpu": 0, "context": 4096 + engine, "engineType": engine, **times}
                file.row(
                    f"WDDM_{kind}_PACKET_START_EVENTS", start=start + engine, **packet, **{opening: step}
                )
                end = start + 300 * (engine + 1) + step
                file.row(f"WDDM_{kind}_PACKET_STOP_EVENTS", start=end, **packet, **{closing: step})
    file.row("TARGET_INFO_WDDM_CONTEXTS", context=4096, nodeOrdinal=3, friendlyName="friend")
    file.row("NIC_ID_MAP", nicId=1, globalId=70)
    file.row("TARGET_INFO_NIC_INFO", nicId=1, GUID=255, deviceId=4, name="mlx5_0")
    file.row("ENUM_NET_DEVICE_ID", id=4, name="CX", label="ConnectX")
    for index, metric in ((1, "IB: Bytes sent"), (2, "IB: Send waits")):
        file.row("TARGET_INFO_NETWORK_METRICS", metricsListId=1, metricsIdx=index, name=metric)


def _unified_memory(file: Synthetic) -> None:
    file.row("TARGET_INFO_GPU", id=0, name="GPU model")
    for kind, text in ((11, "Unified Host-to-Device"), (12, "Unified Device-to-Host")):
        file.row("ENUM_CUDA_MEMCPY_OPER", id=kind, name=text, label=text)
    for start, address, instruction in (
        (5, 4096, "main"),
        (6, 4096, "fill"),
        (7, 8192, "fill"),
        (8, 65536, "?"),
    ):
        file.row(
            "CUDA_UM_CPU_PAGE_FAULT_EVENTS",
            start=start,
            globalPid=file.thread(0),
            address=address,
            CpuInstruction=file.string(instruction),
        )
    for start, address, count in ((10, 8192, 3), (20, 8192, 4), (30, 12288, 1)):
        file.row(
            "CUDA_UM_GPU_PAGE_FAULT_EVENTS",
            start=start,
            end=start + 5,
            globalPid=file.thread(0),
            deviceId=0,
            address=address,
            numberOfPageFaults=count,
        )
    for start, address, kind, size in (
        (100, 4096, 11, 65536),
        (300, 4096, 12, 4096),
        (500, 8192, 11, 131072),
        (700, 20480, 12, 8192),
        (900, 24576, 11, 8192),
    ):
        file.copy(
            start,
            start + size // 512,
            5_000 + start,
            size=size,
            kind=kind,
            source=4,
            target=4,
            virtualAddress=address,
        )


def _graphics(file: Synthetic, step: int) -> None:
    start, thread = 1_000 * step, file.thread(1 + step % 2)
    for event_class, function in ((53, "vkQueueSubmit"), (53, "vkCreateBuffer_v1234"), (54, "vkOther")):
        file.row(
            "VULKAN_API",
            start=start,
            end=start + 100 + step,
            eventClass=event_class,
            globalTid=thread,
            correlationId=step,
            nameId=file.string(function),
        )
    for table in ("VULKAN_DEBUG_API", "D3D11_PIX_DEBUG_API", "D3D12_PIX_DEBUG_API"):
        begin = {"globalTid": thread, "correlationId": step, "textId": file.string(f"label {step % 3}")}
        file.row(table, start=start, end=start + 10, **begin)
        file.row(table, start=start + 210 + step, end=start + 220, **(begin | {"textId": None}))
    for table in ("VULKAN_WORKLOAD", "DX12_WORKLOAD"):
        file.row(table, start=start, end=start + 40, globalTid=thread, textId=file.string(f"work {step % 2}"))
        file.row(table, start=start, end=start + 45, globalTid=thread)
    for event_class, text in ((62, "group"), (62, None), (63, "device group")):
        file.row(
            "KHR_DEBUG_EVENTS",
            eventClass=event_class,
            textId=None if text is None else file.string(text),
            globalTid=thread,
            id=17,
            start=start,
            end=None if step == 3 else start + 60,
        )


def _mpi(file: Synthetic, step: int) -> None:
    start, thread = 1_000 * step, file.thread(1 + step % 2)
    common = {"globalTid": thread}
    file.row(
        "MPI_P2P_EVENTS",
        start=start,
        end=start + 50,
        textId=file.string("MPI_Send"),
        tag=7,
        remoteRank=1,
        size=800 * step,
        **common,
    )
    file.row(
        "MPI_COLLECTIVES_EVENTS",
        start=start + 60,
        end=start + 90,
        textId=file.string("MPI_Bcast"),
        rootRank=0,
        size=64,
        recvSize=None if step else 32,
        **common,
    )
    file.row(
        "MPI_START_WAIT_EVENTS", start=start + 60, end=start + 99, textId=file.string("MPI_Wait"), **common
    )
    file.row("MPI_OTHER_EVENTS", start=start + 2, end=start + 3, textId=file.string("MPI_Init"), **common)
    if step < 2:
        file.row("MPI_RANKS", globalTid=thread, rank=step)


PROFILES = {"nested": nested, "other-tables": other_tables}

if __name__ == "__main__":
    for title, make in PROFILES.items():
        with Synthetic(Path(sys.argv[1]) / f"{title}.sqlite") as profile:
            make(profile)
