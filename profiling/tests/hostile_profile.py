# SPDX-License-Identifier: Apache-2.0
"""A profile with rows in all tables, for tests that change it, and the commands that read it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from synthetic import START_END, Synthetic

MS = 1_000_000
EVIL = "\x1b]0;title\x07\x9b31m\u202egnp.exe\r\t\nend"
SPELLED = r"\x1b]0;title\x07\x9b31m\u202egnp.exe\r\t\nend"
# {f} is the profile, {o} a folder for outputs, {h} an honest profile.
COMMANDS = [
    "summary {f} --rows 0",
    "summary {f} --timeline --operations",
    "summary {f} -f json",
    "stats {f} -r all",
    "stats {f} -r nvtx_sum,cuda_gpu_kern_sum -f csv",
    "rules {f}",
    "html {f} -o {o}/page.html",
    "trace {f} -o {o}/trace.json",
    "ncu {f}",
    "export {f} --raw -o {o}/tables",
    "export {f} --raw -f json -t nvtx_sum -o {o}/json",
    "compare {f} {f} --html {o}/compare.html",
    "merge {f} {h} -o {o}/merged.sqlite",
]
EVERY_NAME = [
    ("NVTX_EVENTS", "text"),
    ("StringIds", "value"),
    ("SPNG_NODE", "name"),
    ("TARGET_INFO_GPU", "name"),
    ("SPNG_SAMPLE", "source"),
    ("PROCESSES", "name"),
    ("TARGET_INFO_GPU_METRICS", "metricName"),
]


def write_profile(path: Path) -> None:
    """Write a profile with rows in all tables that wire-cell's recorder writes."""
    with Synthetic(path) as file:
        file.manifest(
            command_line="wire-cell --record run.sqlite job.jsonnet",
            configuration_file="/x/job.jsonnet",
            what="nvtx,cuda",
            process="100",
            start_utc_ns="1700000000000000000",
            stop_ns="100000000",
            commit="abc",
            settings='{"threads": 1}',
            process_age_ns="5",
            range_overhead_total_ns="12",
        )
        file.row("TARGET_INFO_SESSION_START_TIME", utcEpochNs=1_700_000_000_000_000_000, utcTime="then")
        file.thread_name("main", 1)
        file.process_name("wire-cell")
        file.device(0, "GPU")
        for domain, name in ((1, "spng"), (2, "spng.sched"), (3, "spng.setup")):
            file.domain(name, domain)
            file.category("decon", 1, domain=domain)
        file.range("configure", 0, 5, domainId=3)
        file.range("run", 10, 100 * MS, domainId=1)
        file.node(0, "SPNGDecon", "induction")
        file.row("SPNG_EDGE", id=0, tail=0, tailPort=0, head=0, headPort=0)
        file.row("SPNG_MSG", edge=0, event=0, enq=3 * MS, deq=4 * MS)
        for event, at in enumerate((0, 30 * MS, 60 * MS)):
            file.range("event", at + 11, at + 25 * MS, style=START_END, domainId=2, event=event)
            file.range("SPNGDecon:induction", at + 20, at + 20 * MS, domainId=1, category=1, event=event)
            file.range("registered", at + 25, at + MS, registered=True)
            file.node_call(event, 0, event, at + 30, at + 20 * MS, rss=1000, bytes_in=10, bytes_out=20)
            file.job_event(event, at + 11, at + 25 * MS)
            call = (at + 2 * MS, at + 3 * MS)
            file.external(file.launch("kernel<float>", call, (at + 4 * MS, at + 9 * MS)), event)
            copied = file.call("cudaMemcpyAsync_v3020", at + 5 * MS, at + 6 * MS)
            file.copy(at + 10 * MS, at + 11 * MS, copied)
            file.memset(at + 12 * MS, at + 13 * MS, file.call("cudaMemset", at + 7 * MS, at + 8 * MS))
            file.graph(at + 15 * MS, at + 16 * MS, file.call("cudaGraphLaunch", at + 14 * MS, at + 15 * MS))
            file.system_call("read", at + 1 * MS, at + 2 * MS)
            file.mark("mark", at + MS)
        for time in range(0, 90 * MS, 10 * MS):
            file.sample(time, "process", "resident_bytes", 1e6 + time)
            file.row("GPU_METRICS", timestamp=time, typeId=0, metricId=4, value=time)
            file.row(
                "CUDA_GPU_MEMORY_USAGE_EVENTS",
                start=time,
                deviceId=0,
                memKind=2,
                virtualAddress=time,
                bytes=100,
                memoryOperationType=0,
                globalPid=file.thread(0),
                name=file.string("allocation"),
            )
        file.row("TARGET_INFO_GPU_METRICS", typeId=0, metricId=4, metricName="SMs Active [Throughput %]")


def sql(*statements: str) -> Callable[[Path], None]:
    """Return the damage that these statements do."""

    def damage(path: Path) -> None:
        with closing(sqlite3.connect(path)) as connection:
            for statement in statements:
                connection.execute(statement)
            connection.commit()

    return damage
