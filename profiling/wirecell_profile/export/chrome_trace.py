# SPDX-License-Identifier: Apache-2.0
"""Chrome trace events of a profile, for chrome://tracing and ui.perfetto.dev.

Host threads are tracks of their process. CUDA API and system calls have separate tracks beside each thread's
ranges, because they may cross edges of ranges. Devices are processes with a track per stream. Flows connect a
launching call with its operations. Times are microseconds with three digits, converted from integers and thus
exact to the nanosecond.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

import numpy as np

from ..model.events import PUSH_POP, HostEvents
from ..model.identity import MASK, pid_of, process_of, tid_of
from ..model.profile import Profile
from ..model.selection import Scope
from ..model.table import NULL
from ..tables.memory_use import EVENTS, device_memory

DEVICES = MASK + 1  # above all process ids
API, SYSTEM = MASK + 1, 2 * (MASK + 1)  # above all thread ids
CLASSES = {API: "CUDA API", SYSTEM: "system calls"}


def microseconds(time: int) -> str:
    """Format nanoseconds as microseconds with three digits, in the syntax of JSON."""
    sign, time = ("-", -time) if time < 0 else ("", time)
    return f"{sign}{time // 1000}.{time % 1000:03d}"


def event(
    phase: str, name: str, time: int, pid: int, tid: int, duration: int | None = None, **other: object
) -> str:
    """Return an event as JSON text."""
    length = "" if duration is None else f',"dur":{microseconds(duration)}'
    more = "".join(f",{json.dumps(key)}:{json.dumps(value)}" for key, value in other.items())
    return (
        f'{{"ph":"{phase}","name":{json.dumps(name)},"ts":{microseconds(time)}{length},"pid":{pid},"tid":{tid}'
        f"{more}}}"
    )


def trace_pid(profile: Profile, thread: int) -> int:
    """Return the pid of a thread, or if several processes have this pid, the whole id of its process."""
    process, pid = int(process_of(thread)), int(pid_of(thread))
    return pid if profile.process_titles.get(process, str(pid)) == str(pid) else process


def trace(scope: Scope) -> Iterator[str]:
    """Yield the text of the trace in parts. Raise MissingData if the file has no events."""
    scope.profile.extent()
    yield '{"displayTimeUnit":"ns","otherData":' + json.dumps(_about(scope)) + ',"traceEvents":[\n'
    first = True
    for part in (_names, _ranges, _marks, _calls, _operations, _edges, _counters):
        for text in part(scope):
            yield text if first else ",\n" + text
            first = False
    yield "\n]}\n"


def _about(scope: Scope) -> dict[str, str]:
    profile = scope.profile
    return {"file": profile.name, "schema": profile.schema_version} | dict(profile.manifest)


def _names(scope: Scope) -> Iterator[str]:
    """Yield the names of processes and tracks with events."""
    profile = scope.profile
    threads: set[tuple[int, int]] = set()
    sets: tuple[tuple[HostEvents, int], ...] = (
        (profile.or_empty("ranges"), 0),
        (profile.or_empty("calls"), API),
        (profile.or_empty("system_calls"), SYSTEM),
    )
    for events, offset in sets:
        for thread in np.unique(events.thread).tolist():
            threads.add((thread, offset))
    for pid in sorted({trace_pid(scope.profile, thread) for thread, _ in threads}):
        yield event(
            "M",
            "process_name",
            0,
            pid,
            0,
            args={"name": profile.process_names.get(pid & MASK) or f"process {pid}"},
        )
    for thread, offset in sorted(threads, key=lambda pair: (tid_of(pair[0]), pair[1])):
        title = profile.thread_names.get(thread) or f"thread {tid_of(thread)}"
        text = f"{title}: {CLASSES[offset]}" if offset else title
        pid, tid = trace_pid(scope.profile, thread), int(tid_of(thread)) + offset
        yield event("M", "thread_name", 0, pid, tid, args={"name": text})
    operations = profile.or_empty("operations")
    for device in np.unique(operations.device).tolist():
        name = profile.device_names.get(device) or "device"
        yield event("M", "process_name", 0, DEVICES + device, 0, args={"name": f"{name} ({device})"})
        for stream in np.unique(operations.stream[operations.device == device]).tolist():
            yield event("M", "thread_name", 0, DEVICES + device, stream, args={"name": f"stream {stream}"})


def _ranges(scope: Scope) -> Iterator[str]:
    """Yield ranges: push/pop ranges as nested events of their thread, start/end ranges as asynchronous
    events."""
    ranges = scope.profile.or_empty("ranges")
    if not len(ranges):
        return
    lengths = ranges.duration
    for row in scope.range_rows.tolist():
        name, start, length = ranges.name.text(row), int(ranges.start[row]), int(lengths[row])
        thread = int(ranges.thread[row])
        pid, tid = trace_pid(scope.profile, thread), int(tid_of(thread))
        about: dict[str, object] = (
            {"category": ranges.category.text(row)} if ranges.category.text(row) else {}
        )
        if ranges.payload[row] != NULL:
            about["payload"] = int(ranges.payload[row])
        if ranges.style[row] == PUSH_POP:
            yield event("X", name, start, pid, tid, length, cat="nvtx", args=about)
            continue
        cat, identifier = "nvtx start/end", hex(int(ranges.row[row]))
        yield event("b", name, start, pid, tid, cat=cat, id=identifier, args=about)
        end_tid = int(tid_of(int(ranges.end_thread[row])))
        yield event("e", name, start + length, pid, end_tid, cat=cat, id=identifier)


def _marks(scope: Scope) -> Iterator[str]:
    marks = scope.profile.or_empty("marks")
    for row in scope.mark_rows.tolist() if len(marks) else ():
        thread = int(marks.thread[row])
        yield event(
            "i",
            marks.name.text(row),
            int(marks.start[row]),
            trace_pid(scope.profile, thread),
            int(tid_of(thread)),
            s="t",
        )


def _calls(scope: Scope) -> Iterator[str]:
    profile = scope.profile
    for calls, rows, offset in (
        (profile.or_empty("calls"), "call_rows", API),
        (profile.or_empty("system_calls"), "system_call_rows", SYSTEM),
    ):
        if not len(calls):
            continue
        lengths = calls.duration
        for row in getattr(scope, rows).tolist():
            thread = int(calls.thread[row])
            about = {} if calls.correlation[row] == NULL else {"correlation": int(calls.correlation[row])}
            yield event(
                "X",
                calls.name.text(row),
                int(calls.start[row]),
                trace_pid(scope.profile, thread),
                int(tid_of(thread)) + offset,
                int(lengths[row]),
                cat=CLASSES[offset],
                args=about,
            )


def _operations(scope: Scope) -> Iterator[str]:
    """Yield device operations, and the flows to them."""
    operations = scope.profile.or_empty("operations")
    if not len(operations):
        return
    projection = scope.projection
    shown = set(scope.call_rows.tolist()) if len(projection.calls) else set()
    lengths = operations.duration
    for row in scope.operation_rows.tolist():
        pid, stream = DEVICES + int(operations.device[row]), int(operations.stream[row])
        about = (
            {"correlation": int(operations.correlation[row])} if operations.correlation[row] != NULL else {}
        )
        if operations.bytes[row] != NULL:
            about["bytes"] = int(operations.bytes[row])
        name = operations.name.text(row)
        yield event(
            "X",
            operations.short_name.text(row),
            int(operations.start[row]),
            pid,
            stream,
            int(lengths[row]),
            cat="device",
            args={"name": name} | about,
        )
        call = int(projection.call_of_operation[row])
        if call in shown:
            thread = int(projection.calls.thread[call])
            yield event(
                "s",
                "launch",
                int(projection.calls.start[call]),
                trace_pid(scope.profile, thread),
                int(tid_of(thread)) + API,
                cat="launch",
                id=row,
            )
            start = int(operations.start[row])
            yield event("f", "launch", start, pid, stream, cat="launch", id=row, bp="e")


def _edges(scope: Scope) -> Iterator[str]:
    """Yield messages that wait on an edge of the graph, as asynchronous events."""
    profile = scope.profile
    if not (profile.has("SPNG_MSG") and profile.has("SPNG_EDGE") and profile.has("SPNG_NODE")):
        return
    nodes, edges, messages = (profile.table(name) for name in ("SPNG_NODE", "SPNG_EDGE", "SPNG_MSG"))
    title = {
        node: f"{kind}:{name}" if name else kind
        for node, kind, name in zip(
            nodes.integers("id").tolist(),
            nodes.text_column("type").to_list(),
            nodes.text_column("name").to_list(),
        )
    }
    ends = {
        edge: f"{title.get(tail, tail)} to {title.get(head, head)}"
        for edge, tail, head in zip(*(edges.integers(name).tolist() for name in ("id", "tail", "head")))
    }
    thread_of = {}  # a thread of each node
    if profile.has("SPNG_CALL"):
        calls = profile.table("SPNG_CALL")
        thread_of = dict(zip(calls.integers("node").tolist(), calls.integers("globalTid").tolist()))
    of_edge = dict(zip(edges.integers("id").tolist(), edges.integers("head").tolist()))
    rows = zip(*(messages.integers(name).tolist() for name in ("edge", "event", "enq", "deq")))
    for message, (edge, index, begin, end) in enumerate(rows):
        if not scope.selection.covers(begin):
            continue
        name, identifier = ends.get(edge, f"edge {edge}"), f"edge{message}"
        thread = thread_of.get(of_edge.get(edge, NULL))
        pid = 0 if thread is None else trace_pid(profile, thread)
        yield event("b", name, begin, pid, 0, cat="queue", id=identifier, args={"event": index})
        yield event("e", name, end, pid, 0, cat="queue", id=identifier)


def _counters(scope: Scope) -> Iterator[str]:
    """Yield samples of the recorder, metrics of the GPU, and device memory."""
    profile = scope.profile
    pid = min(
        (
            trace_pid(scope.profile, thread)
            for thread in np.unique(profile.or_empty("ranges").thread).tolist()
        ),
        default=0,
    )
    if profile.has("SPNG_SAMPLE"):
        table = profile.table("SPNG_SAMPLE")
        rows = zip(
            table.integers("t").tolist(),
            table.text_column("source").to_list(),
            table.text_column("metric").to_list(),
            table.reals("value").tolist(),
        )
        for time, source, metric, value in rows:
            if scope.selection.covers(time) and not math.isnan(value):
                yield event("C", f"{source} {metric}", time, pid, 0, args={"value": value})
    if profile.has("GPU_METRICS"):
        table, names = profile.table("GPU_METRICS"), _metric_names(scope)
        samples = zip(
            *(table.integers(name).tolist() for name in ("timestamp", "typeId", "metricId", "value"))
        )
        for time, kind, identifier, value in samples:
            if scope.selection.covers(time):
                yield event(
                    "C",
                    names.get((kind, identifier), f"metric {identifier}"),
                    time,
                    DEVICES,
                    0,
                    args={"value": value},
                )
    if profile.has(EVENTS):
        for series in device_memory(scope).series:
            for time, value in zip(series.time.tolist(), series.value.tolist()):
                yield event("C", f"memory of {series.name}", time, DEVICES, 0, args={"bytes": value})


def _metric_names(scope: Scope) -> dict[tuple[int, int], str]:
    profile = scope.profile
    if not profile.has("TARGET_INFO_GPU_METRICS"):
        return {}
    table = profile.table("TARGET_INFO_GPU_METRICS")
    return dict(
        zip(
            zip(table.integers("typeId").tolist(), table.integers("metricId").tolist()),
            table.text_column("metricName").to_list(),
        )
    )
