# SPDX-License-Identifier: Apache-2.0
"""Chrome trace events of a profile, for chrome://tracing and ui.perfetto.dev.

Host threads are tracks of their process. CUDA API and system calls have separate tracks beside each thread's
ranges, because they may cross edges of ranges. Devices are processes with a track per stream. Flows connect a
launching call with its operations. Times are microseconds with three digits, converted from integers and thus
exact to the nanosecond.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..model.events import PUSH_POP
from ..model.identity import MASK, pid_of, process_of, tid_of
from ..model.nodes import names_of_nodes
from ..model.profile import Profile
from ..model.samples import Samples, gpu_metrics, recorder_samples
from ..model.selection import Scope
from ..model.table import NULL
from ..tables.memory_use import EVENTS, Series, device_memory

DEVICES = MASK + 1  # above all process ids
API, SYSTEM = MASK + 1, 2 * (MASK + 1)  # above all thread ids
CLASSES = {API: "CUDA API", SYSTEM: "system calls"}
# Events on tracks of host threads: attribute of the profile -> added to the id of the thread.
OFFSETS = {"ranges": 0, "calls": API, "system_calls": SYSTEM}

Track = tuple[int, int]  # process and thread in the trace


def microseconds(time: int) -> str:
    """Format nanoseconds as microseconds with three digits, in the syntax of JSON."""
    sign, time = ("-", -time) if time < 0 else ("", time)
    return f"{sign}{time // 1000}.{time % 1000:03d}"


def event(
    phase: str, name: str, time: int, track: Track, duration: int | None = None, **other: object
) -> str:
    """Return an event as JSON text."""
    length = "" if duration is None else f',"dur":{microseconds(duration)}'
    more = "".join(f",{json.dumps(key)}:{json.dumps(value)}" for key, value in other.items())
    return (
        f'{{"ph":"{phase}","name":{json.dumps(name)},"ts":{microseconds(time)}{length},'
        f'"pid":{track[0]},"tid":{track[1]}{more}}}'
    )


def name_of(kind: str, track: Track, name: str) -> str:
    """Return the event that names a process or a thread."""
    return event("M", f"{kind}_name", 0, track, args={"name": name})


def track_of(profile: Profile, thread: int, offset: int = 0) -> Track:
    """Return the track of a thread: its pid, or if several processes have this pid, the whole id of its process."""
    process, pid = int(process_of(thread)), int(pid_of(thread))
    is_unique = profile.process_titles.get(process, str(pid)) == str(pid)
    return pid if is_unique else process, int(tid_of(thread)) + offset


def trace(scope: Scope) -> Iterator[str]:
    """Yield the text of the trace in parts. Raise MissingData if the file has no events."""
    profile = scope.profile
    profile.extent()
    about = {"file": profile.name, "schema": profile.schema_version} | dict(profile.manifest)
    yield '{"displayTimeUnit":"ns","otherData":' + json.dumps(about) + ',"traceEvents":[\n'
    first = True
    for part in (_names, _ranges, _marks, _calls, _operations, _edges, _counters):
        for text in part(scope):
            yield text if first else ",\n" + text
            first = False
    yield "\n]}\n"


def _names(scope: Scope) -> Iterator[str]:
    """Yield the names of processes and tracks with events."""
    profile = scope.profile
    threads = {
        (thread, offset)
        for what, offset in OFFSETS.items()
        for thread in np.unique(profile.or_empty(what).thread).tolist()  # type: ignore[attr-defined]
    }
    for pid in sorted({track_of(profile, thread)[0] for thread, _ in threads}):
        yield name_of("process", (pid, 0), profile.process_names.get(pid & MASK) or f"process {pid}")
    for thread, offset in sorted(threads, key=lambda pair: (tid_of(pair[0]), pair[1])):
        title = profile.thread_names.get(thread) or f"thread {tid_of(thread)}"
        text = f"{title}: {CLASSES[offset]}" if offset else title
        yield name_of("thread", track_of(profile, thread, offset), text)
    operations = profile.or_empty("operations")
    for device in np.unique(operations.device).tolist():
        name = profile.device_names.get(device) or "device"
        yield name_of("process", (DEVICES + device, 0), f"{name} ({device})")
        for stream in np.unique(operations.stream[operations.device == device]).tolist():
            yield name_of("thread", (DEVICES + device, stream), f"stream {stream}")


def _given(**values: int) -> dict[str, int]:
    """Return the values that are not NULL."""
    return {name: int(value) for name, value in values.items() if value != NULL}


def _ranges(scope: Scope) -> Iterator[str]:
    """Yield ranges: push/pop ranges as nested events of their thread, start/end ranges as asynchronous
    events."""
    ranges = scope.profile.or_empty("ranges")
    for row in scope.range_rows.tolist() if len(ranges) else ():
        name, start, end = ranges.name.text(row), int(ranges.start[row]), int(ranges.end[row])
        track = track_of(scope.profile, int(ranges.thread[row]))
        category = ranges.category.text(row)
        about = ({"category": category} if category else {}) | _given(payload=ranges.payload[row])
        if ranges.style[row] == PUSH_POP:
            yield event("X", name, start, track, end - start, cat="nvtx", args=about)
            continue
        same: dict[str, Any] = {"cat": "nvtx start/end", "id": hex(int(ranges.row[row]))}
        yield event("b", name, start, track, **same, args=about)
        yield event("e", name, end, (track[0], int(tid_of(int(ranges.end_thread[row])))), **same)


def _marks(scope: Scope) -> Iterator[str]:
    marks = scope.profile.or_empty("marks")
    for row in scope.mark_rows.tolist() if len(marks) else ():
        track = track_of(scope.profile, int(marks.thread[row]))
        yield event("i", marks.name.text(row), int(marks.start[row]), track, s="t")


def _calls(scope: Scope) -> Iterator[str]:
    profile = scope.profile
    for calls, rows, offset in (
        (profile.or_empty("calls"), "call_rows", API),
        (profile.or_empty("system_calls"), "system_call_rows", SYSTEM),
    ):
        for row in getattr(scope, rows).tolist() if len(calls) else ():
            start, end = int(calls.start[row]), int(calls.end[row])
            track = track_of(profile, int(calls.thread[row]), offset)
            known = _given(correlation=calls.correlation[row])
            yield event("X", calls.name.text(row), start, track, end - start, cat=CLASSES[offset], args=known)


def _operations(scope: Scope) -> Iterator[str]:
    """Yield device operations, and the flows to them."""
    operations = scope.profile.or_empty("operations")
    if not len(operations):
        return
    launching = scope.projection.calls
    shown = set(scope.call_rows.tolist()) if len(launching) else set()
    for row in scope.operation_rows.tolist():
        track = DEVICES + int(operations.device[row]), int(operations.stream[row])
        start, end = int(operations.start[row]), int(operations.end[row])
        known = _given(correlation=operations.correlation[row], bytes=operations.bytes[row])
        about = {"name": operations.name.text(row)} | known
        yield event("X", operations.short_name.text(row), start, track, end - start, cat="device", args=about)
        call = int(scope.projection.call_of_operation[row])
        if call in shown:
            caller = track_of(scope.profile, int(launching.thread[call]), API)
            yield event("s", "launch", int(launching.start[call]), caller, cat="launch", id=row)
            yield event("f", "launch", start, track, cat="launch", id=row, bp="e")


def _edges(scope: Scope) -> Iterator[str]:
    """Yield messages that wait on an edge of the graph, as asynchronous events."""
    profile = scope.profile
    if not all(map(profile.has, ("SPNG_MSG", "SPNG_EDGE", "SPNG_NODE"))):
        return
    edges, messages = profile.table("SPNG_EDGE"), profile.table("SPNG_MSG")
    heads = edges.integers("head")
    ends = (names_of_nodes(profile, nodes).to_list() for nodes in (edges.integers("tail"), heads))
    titles = [f"{tail} to {head}" for tail, head in zip(*ends)]
    edge_of = {edge: row for row, edge in enumerate(edges.integers("id").tolist())}
    thread_of = {}  # a thread of each node
    if profile.has("SPNG_CALL"):
        calls = profile.table("SPNG_CALL")
        thread_of = dict(zip(calls.integers("node").tolist(), calls.integers("globalTid").tolist()))
    rows = zip(*(messages.integers(name).tolist() for name in ("edge", "event", "enq", "deq")))
    for message, (edge, index, begin, end) in enumerate(rows):
        if not scope.selection.covers(begin):
            continue
        row = edge_of.get(edge)
        name = f"edge {edge}" if row is None else titles[row]
        thread = None if row is None else thread_of.get(int(heads[row]))
        track = (0 if thread is None else track_of(profile, thread)[0], 0)
        same: dict[str, Any] = {"cat": "queue", "id": f"edge{message}"}
        yield event("b", name, begin, track, **same, args={"event": index})
        yield event("e", name, end, track, **same)


def _counters(scope: Scope) -> Iterator[str]:
    """Yield samples of the recorder, metrics of the GPU, and device memory."""
    profile = scope.profile
    threads = np.unique(profile.or_empty("ranges").thread).tolist()
    process = min((track_of(profile, thread)[0] for thread in threads), default=0)
    series: list[tuple[str, str, int, Samples | Series]] = [
        *((f"{one.source} {one.metric}", "value", process, one) for one in recorder_samples(profile)),
        *((one.metric, "value", DEVICES, one) for one in gpu_metrics(profile)),
    ]
    if profile.has(EVENTS):
        series += [(f"memory of {one.name}", "bytes", DEVICES, one) for one in device_memory(scope).series]
    for name, unit, pid, one in series:
        for time, value in zip(one.time.tolist(), one.value.tolist()):
            if scope.selection.covers(time):
                yield event("C", name, time, (pid, 0), args={unit: value})
