# SPDX-License-Identifier: Apache-2.0
"""Make small profiles row by row, for tests whose answers can be worked out by hand.

    with Synthetic(path) as file:
        file.range("step", 0, 100)
        file.launch("kernel", call=(10, 20), run=(30, 50))

Tables are made with their first row, as nsys does, with the columns of the chosen schema version. Times are
ns.
"""

from __future__ import annotations

import itertools
import sqlite3
from pathlib import Path

from synthetic_columns import COLUMNS, NUMBERS, SINCE, TEXT
from wirecell_profile.model.identity import global_tid

PUSH_POP, START_END = 59, 60


class Synthetic:
    """Write one profile. The file is complete when the context ends.

    schema: version of the nsys schema; before 3.7 without ENUM_ tables and with the old name of the export's
    metadata, before 3.0 with the old table of devices. vm: the VM bits that real files carry in identities.
    """

    def __init__(self, path: Path, schema: str = "3.7.2", pid: int = 100, vm: int = 1) -> None:
        self.path = Path(path)
        self.schema = tuple(int(part) for part in schema.split("."))
        self.pid, self.vm = pid, vm
        self._connection = sqlite3.connect(self.path)
        self._strings: dict[str, int] = {}
        self._made: set[str] = set()
        self._correlations = itertools.count(1)
        new = self.schema >= (3, 7)
        self.row(
            "META_DATA_EXPORT" if new else "EXPORT_META_DATA", name="EXPORT_SCHEMA_VERSION", value=schema
        )
        if new:
            for code, name in (
                (33, "NvtxCategory"),
                (34, "NvtxMark"),
                (59, "NvtxPushPopRange"),
                (75, "NvtxDomainCreate"),
            ):
                self.row("ENUM_NSYS_EVENT_TYPE", id=code, name=name, label=name)
            for code, text in ((1, "Host-to-Device"), (2, "Device-to-Host"), (8, "Device-to-Device")):
                self.row("ENUM_CUDA_MEMCPY_OPER", id=code, name=text, label=text)
            for code, text in enumerate(("Pageable", "Pinned", "Device", "Array", "Managed")):
                self.row("ENUM_CUDA_MEM_KIND", id=code, name=text, label=text)

    def __enter__(self) -> Synthetic:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.commit()
        self._connection.close()

    # ---- rows

    def table(self, name: str) -> None:
        """Make a table without rows."""
        if name in self._made:
            return
        self._made.add(name)
        absent = set().union(*(columns for since, columns in SINCE.items() if self.schema < since))
        declared = []
        for column in COLUMNS[name].split():
            kind = "TEXT" if column in TEXT and (name, column) not in NUMBERS else "INTEGER"
            kind = (
                "REAL"
                if column in ("doubleValue", "floatValue") or (name, column) == ("SPNG_SAMPLE", "value")
                else kind
            )
            if column not in absent or name == "CUPTI_ACTIVITY_KIND_GRAPH_TRACE":
                declared.append(f'"{column}" {kind}')
        self._connection.execute(f'CREATE TABLE "{name}" ({", ".join(declared)})')

    def row(self, table: str, **values: object) -> None:
        """Append a row to any table; columns that are not given are NULL."""
        self.table(table)
        columns = ", ".join(f'"{name}"' for name in values)
        marks = ", ".join("?" * len(values))
        self._connection.execute(
            f'INSERT INTO "{table}" ({columns}) VALUES ({marks})', tuple(values.values())
        )

    def rows(self, table: str, columns: str, values: list[tuple]) -> None:
        """Append many rows; columns are separated by spaces."""
        self.table(table)
        names = columns.split()
        quoted = ", ".join(f'"{name}"' for name in names)
        self._connection.executemany(
            f'INSERT INTO "{table}" ({quoted}) VALUES ({", ".join("?" * len(names))})', values
        )

    def string(self, text: str) -> int:
        """Return the id of a text in StringIds."""
        if text not in self._strings:
            self._strings[text] = len(self._strings) + 1
            self.row("StringIds", id=self._strings[text], value=text)
        return self._strings[text]

    def thread(self, tid: int, pid: int | None = None) -> int:
        """Return the globalTid of a thread."""
        return global_tid(self.pid if pid is None else pid, tid, self.vm)

    # ---- NVTX

    def domain(self, name: str, domain: int, pid: int | None = None) -> None:
        """Name a domain of a process."""
        self.row(
            "NVTX_EVENTS", start=0, eventType=75, text=name, domainId=domain, globalTid=self.thread(1, pid)
        )

    def category(self, name: str, category: int, domain: int = 0, pid: int | None = None) -> None:
        """Name a category of a process's domain."""
        self.row(
            "NVTX_EVENTS",
            start=0,
            eventType=33,
            text=name,
            category=category,
            domainId=domain,
            globalTid=self.thread(1, pid),
        )

    def range(
        self,
        name: str,
        start: int,
        end: int | None,
        tid: int = 1,
        *,
        pid: int | None = None,
        style: int = PUSH_POP,
        end_tid: int | None = None,
        registered: bool = False,
        event: int | None = None,
        **columns: object,
    ) -> None:
        """Add a range. end None: never closed. end_tid: thread on which a start/end range ended. registered:
        the name is a registered string. event: payload. columns: others of NVTX_EVENTS, such as domainId.
        """
        text = {"textId": self.string(name)} if registered else {"text": name}
        columns = {"domainId": 0, "uint64Value": event} | columns
        end_thread = None if end_tid is None else self.thread(end_tid, pid)
        self.row(
            "NVTX_EVENTS",
            start=start,
            end=end,
            eventType=style,
            globalTid=self.thread(tid, pid),
            endGlobalTid=end_thread,
            **text,
            **columns,
        )

    def mark(self, name: str, time: int, tid: int = 1, **columns: object) -> None:
        """Add a mark."""
        self.range(name, time, None, tid, style=34, **columns)

    # ---- CUDA

    def call(
        self,
        name: str,
        start: int,
        end: int,
        tid: int = 1,
        *,
        correlation: int | None = None,
        pid: int | None = None,
        driver: bool = False,
        result: int | None = 0,
    ) -> int:
        """Add an API call and return its correlation id."""
        correlation = next(self._correlations) if correlation is None else correlation
        self.row(
            "CUPTI_ACTIVITY_KIND_RUNTIME",
            start=start,
            end=end,
            eventClass=int(driver),
            globalTid=self.thread(tid, pid),
            correlationId=correlation,
            nameId=self.string(name),
            returnValue=result,
        )
        return correlation

    def kernel(
        self,
        name: str,
        start: int,
        end: int,
        correlation: int,
        *,
        pid: int | None = None,
        stream: int = 7,
        device: int = 0,
        short: str | None = None,
        grid: tuple = (1, 1, 1),
        block: tuple = (32, 1, 1),
        **columns: object,
    ) -> None:
        """Add a kernel."""
        sizes = dict(zip(("gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ"), (*grid, *block)))
        needed = dict.fromkeys(
            (
                "registersPerThread",
                "staticSharedMemory",
                "dynamicSharedMemory",
                "localMemoryPerThread",
                "localMemoryTotal",
                "gridId",
            ),
            0,
        )
        names = {
            "demangledName": self.string(name),
            "shortName": self.string(short or name),
            "mangledName": self.string(f"_Z{name}"),
        }
        self.row(
            "CUPTI_ACTIVITY_KIND_KERNEL",
            **self._placed(start, end, correlation, pid, stream, device),
            **names,
            **sizes,
            **(needed | columns),
        )

    def copy(
        self,
        start: int,
        end: int,
        correlation: int,
        *,
        size: int = 1000,
        kind: int = 1,
        source: int = 1,
        target: int = 2,
        pid: int | None = None,
        stream: int = 7,
        device: int = 0,
        **columns: object,
    ) -> None:
        """Add a memory copy; kind 1 host to device, 2 device to host, 8 device to device; memory 0 pageable,
        1 pinned, 2 device.
        """
        self.row(
            "CUPTI_ACTIVITY_KIND_MEMCPY",
            **self._placed(start, end, correlation, pid, stream, device),
            bytes=size,
            copyKind=kind,
            srcKind=source,
            dstKind=target,
            **columns,
        )

    def memset(
        self,
        start: int,
        end: int,
        correlation: int,
        *,
        size: int = 1000,
        memory: int = 2,
        pid: int | None = None,
        stream: int = 7,
        device: int = 0,
        **columns: object,
    ) -> None:
        """Add a memory set."""
        self.row(
            "CUPTI_ACTIVITY_KIND_MEMSET",
            **self._placed(start, end, correlation, pid, stream, device),
            bytes=size,
            value=0,
            memKind=memory,
            **columns,
        )

    def graph(
        self,
        start: int,
        end: int,
        correlation: int,
        graph: int = 1,
        *,
        pid: int | None = None,
        stream: int = 7,
        device: int = 0,
    ) -> None:
        """Add a graph launch that was traced as a whole."""
        self.row(
            "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
            **self._placed(start, end, correlation, pid, stream, device),
            graphId=graph,
            graphExecId=graph,
        )

    def launch(
        self,
        name: str,
        call: tuple[int, int],
        run: tuple[int, int],
        tid: int = 1,
        *,
        api: str = "cudaLaunchKernel_v7000",
        **columns: object,
    ) -> int:
        """Add a kernel with the API call that launches it, both as (start, end).

        Return the correlation id.
        """
        correlation = self.call(api, *call, tid)
        self.kernel(name, *run, correlation, **columns)
        return correlation

    def _placed(
        self, start: int, end: int, correlation: int, pid: int | None, stream: int, device: int
    ) -> dict:
        return {
            "start": start,
            "end": end,
            "deviceId": device,
            "contextId": 1,
            "streamId": stream,
            "correlationId": correlation,
            "globalPid": self.thread(0, pid),
        }

    # ---- the rest of a machine

    def system_call(self, name: str, start: int, end: int, tid: int = 1, event_class: int = 27) -> None:
        """Add a call of the operating system's runtime."""
        self.row(
            "OSRT_API",
            start=start,
            end=end,
            eventClass=event_class,
            globalTid=self.thread(tid),
            nameId=self.string(name),
            returnValue=0,
            callchainId=0,
        )

    def device(self, index: int = 0, name: str = "GPU", **columns: object) -> None:
        """Describe a device."""
        if self.schema < (3, 0):
            self.row("TARGET_INFO_CUDA_GPU", deviceId=index, name=name)
        else:
            self.row("TARGET_INFO_GPU", id=index, name=name, **columns)

    def thread_name(self, name: str, tid: int, priority: int = 20) -> None:
        """Name a thread."""
        self.row("ThreadNames", nameId=self.string(name), priority=priority, globalTid=self.thread(tid))

    def process_name(self, name: str, pid: int | None = None) -> None:
        """Name a process."""
        process = self.pid if pid is None else pid
        self.row("PROCESSES", globalPid=self.thread(0, pid), pid=process, name=name)

    # ---- wire-cell's recorder

    def manifest(self, **values: str) -> None:
        """Write keys of SPNG_RUN, which marks the file as one of wire-cell's recorder."""
        self.table("SPNG_RUN")
        for key, value in values.items():
            self.row("SPNG_RUN", key=key, value=value)

    def node(self, identifier: int, type: str, name: str, kind: str = "transform") -> None:
        """Add a node of the graph."""
        self.row("SPNG_NODE", id=identifier, type=type, name=name, kind=kind)

    def node_call(
        self,
        identifier: int,
        node: int,
        event: int,
        start: int,
        end: int,
        tid: int = 1,
        *,
        ok: int = 1,
        **columns: object,
    ) -> None:
        """Add a call of a node. Measured columns that are not given are -1 (not measured)."""
        unknown = dict.fromkeys(
            (
                "bytes_in",
                "bytes_out",
                "rss",
                "cuda_alloc_peak",
                "cpu",
                "host_alloc_peak",
                "leaf_operations",
                "device",
            ),
            -1,
        )
        self.row(
            "SPNG_CALL",
            id=identifier,
            node=node,
            event=event,
            seq=event,
            globalTid=self.thread(tid),
            start=start,
            end=end,
            ok=ok,
            **(unknown | columns),
        )

    def job_event(
        self, event: int, start: int, end: int, *, whole: bool = True, pid: int | None = None
    ) -> None:
        """Add an event that ended; whole False: the capture window opened or closed during it."""
        process = self.thread(0, pid)
        self.row("SPNG_EVENT", event=event, globalPid=process, start=start, end=end, whole=int(whole))

    def external(self, correlation: int, call: int, pid: int | None = None) -> None:
        """Assign an API call to a node call."""
        self.row("SPNG_CALL_CORRELATION", correlationId=correlation, call=call, globalPid=self.thread(0, pid))

    def sample(self, time: int, source: str, metric: str, value: float) -> None:
        """Add a sample of the recorder's sampler."""
        self.row("SPNG_SAMPLE", t=time, source=source, metric=metric, value=value)
