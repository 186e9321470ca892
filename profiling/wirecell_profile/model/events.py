# SPDX-License-Identifier: Apache-2.0
"""Events as columns: NVTX ranges, API calls, device operations. Times are in ns from the start of the
session.

Each set of events is a dataclass of arrays of equal length; `take(rows)` selects rows (indices or a mask) of
all of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import Field, dataclass, fields, replace
from functools import cached_property, partial
from typing import Any, Self

import numpy as np

from .identity import codes, lookup, process_of
from .table import NULL, Labels, Table, TableSource, combine, label

PUSH_POP, START_END = 0, 1
STYLES = ("PushPop", "StartEnd")

KERNEL, MEMCPY, MEMSET, GRAPH = 0, 1, 2, 3
ACTIVITIES = {
    KERNEL: "CUPTI_ACTIVITY_KIND_KERNEL",
    MEMCPY: "CUPTI_ACTIVITY_KIND_MEMCPY",
    MEMSET: "CUPTI_ACTIVITY_KIND_MEMSET",
    GRAPH: "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
}
# Parts of the names of API calls that wait for the device.
BLOCKING = ("DeviceSynchronize", "StreamSynchronize", "EventSynchronize", "CtxSynchronize")
TORCH_NUMBERS = re.compile(r", (?:(?:seq|op_id) = -?\d+|input_op_ids = \[[^\]]*\])")
NO_NAME = "(no name)"  # its string is not in the file
PAYLOADS = ("uint64Value", "int64Value", "uint32Value", "int32Value")


@dataclass
class Columns:
    """Base of the sets of events."""

    start: np.ndarray
    end: np.ndarray

    def __len__(self) -> int:
        return len(self.start)

    @property
    def duration(self) -> np.ndarray:
        """end - start."""
        return self.end - self.start

    def take(self, rows: np.ndarray) -> Self:
        """Return some of the rows. All of them in order share the arrays of this set."""
        if len(rows) == len(self) and rows.dtype != bool and (rows == np.arange(len(self))).all():
            return replace(self)

        taken: dict[int, np.ndarray | Labels] = {}  # columns that are one array stay one

        def part(value: np.ndarray | Labels) -> np.ndarray | Labels:
            if id(value) not in taken:
                taken[id(value)] = value.take(rows) if isinstance(value, Labels) else value[rows]
            return taken[id(value)]

        return self.build(lambda field: part(getattr(self, field.name)))

    @classmethod
    def empty(cls) -> Self:
        """Return a set without rows."""
        nothing = np.empty(0, np.int64)
        return cls.build(lambda field: Labels(nothing, []) if field.type == "Labels" else nothing)

    @classmethod
    def build(cls, column: Callable[[Field], Any]) -> Self:
        """Make a set from a function that returns the column of a field: labels or an array, as the field's type says."""
        return cls(**{field.name: column(field) for field in fields(cls)})


@dataclass
class HostEvents(Columns):
    """Base of the events of host threads."""

    thread: np.ndarray  # globalTid


@dataclass
class Ranges(HostEvents):
    """NVTX ranges (or marks).

    `thread` is that of the start. A range that was never closed ends at the last NVTX time of the file.
    """

    is_open: np.ndarray  # 1: never closed
    end_thread: np.ndarray  # globalTid of the end
    style: np.ndarray  # PUSH_POP or START_END
    row: np.ndarray  # row in NVTX_EVENTS, RangeId in nsys
    payload: (
        np.ndarray
    )  # integer payload, NULL without one; in wire-cell's node ranges the index of the event
    text: Labels  # the message
    domain: Labels  # name of the domain, empty for the default domain
    category: Labels  # name of the category, empty without one
    name: Labels  # domain:message, only the message in the default domain

    @cached_property
    def folded(self) -> Labels:
        """The name without the numbers with which torch's emit_nvtx makes each range's name its own."""
        return self.name.map(partial(TORCH_NUMBERS.sub, ""))

    @property
    def on_one_thread(self) -> np.ndarray:
        """Mask of the ranges that begin and end on the same thread; only these enclose calls."""
        return self.thread == self.end_thread


@dataclass
class Calls(HostEvents):
    """API calls of the host."""

    correlation: np.ndarray  # NULL for calls that launch nothing on a device (system calls)
    result: np.ndarray
    event_class: np.ndarray  # 0 runtime API, 1 driver API
    name: Labels  # without the suffix of the API's version


@dataclass
class Operations(Columns):
    """Device operations."""

    kind: np.ndarray  # KERNEL, MEMCPY, MEMSET, or GRAPH for a graph launch recorded as a whole
    row: np.ndarray  # index into the table of this kind, ACTIVITIES[kind]
    device: np.ndarray
    context: np.ndarray
    stream: np.ndarray
    correlation: np.ndarray
    process: np.ndarray  # process_of(globalPid)
    graph_node: np.ndarray  # node of the CUDA graph that launched it, NULL outside graphs
    bytes: np.ndarray  # of copies and sets, else NULL
    copy_kind: np.ndarray  # of copies, else NULL
    source_kind: np.ndarray  # memory kind of a copy's source or of the memory that is set, else NULL
    target_kind: np.ndarray  # memory kind of a copy's target, else NULL
    name: Labels  # kernel's demangled name, or "[CUDA memcpy Host-to-Device]"
    short_name: Labels  # kernel's name without template arguments, else as name


def strip_version(name: str) -> str:
    """Remove a four-digit version suffix: cudaLaunchKernel_v7000 -> cudaLaunchKernel.

    Like nsys, keep longer ones (_v10000).
    """
    return re.sub(r"_v\d{4}$", "", name)


def read_ranges(profile: TableSource) -> Ranges:
    """Read the push/pop and start/end ranges of NVTX_EVENTS, including imported ones."""
    kinds = profile.event_types
    styles = {
        kinds["NvtxPushPopRange"]: PUSH_POP,
        kinds["NvtxtPushPopRange"]: PUSH_POP,
        kinds["NvtxStartEndRange"]: START_END,
        kinds["NvtxtStartEndRange"]: START_END,
    }
    return _read_nvtx(profile, styles)


def read_marks(profile: TableSource) -> Ranges:
    """Read the marks of NVTX_EVENTS."""
    marks = _read_nvtx(profile, {profile.event_types["NvtxMark"]: PUSH_POP})
    marks.end = marks.start.copy()
    marks.is_open = np.zeros(len(marks), np.int64)
    return marks


def _read_nvtx(profile: TableSource, styles: dict[int, int]) -> Ranges:
    """Read the rows of NVTX_EVENTS of these event types, each with its style."""
    profile.require("NVTX_EVENTS")
    table = profile.table("NVTX_EVENTS")
    columns = "rowid start end eventType globalTid endGlobalTid textId domainId category".split()
    table.load(*columns, *PAYLOADS)
    event_type = table.integers("eventType")
    rows = np.flatnonzero(np.isin(event_type, list(styles)))
    if not len(rows):
        raise profile.missing("NVTX_EVENTS")
    start, end = table.intervals(is_open=True)
    is_open = end == NULL
    end = np.where(is_open, max(int(start.max()), int(end.max())), end)
    thread = table.integers("globalTid")
    end_thread = table.integers("endGlobalTid")
    moved = end_thread != NULL
    text = _message(table)
    domain = _domains(table, event_type, profile.event_types["NvtxDomainCreate"], text)
    category = _categories(table, event_type, profile.event_types["NvtxCategory"], text)
    starts_and_ends = [kind for kind, style in styles.items() if style == START_END]
    ranges = Ranges(
        start=start,
        end=end,
        is_open=is_open.astype(np.int8),
        thread=thread,
        end_thread=np.where(moved, end_thread, thread) if moved.any() else thread,
        style=np.isin(event_type, starts_and_ends).astype(np.int8),
        row=table.integers("rowid"),
        payload=_payload(table),
        text=text,
        domain=domain,
        category=category,
        name=text,
    ).take(rows)
    ranges.name = _qualified(ranges.domain, ranges.text)
    return ranges


def _message(table: Table) -> Labels:
    """Return the messages: `text`, or StringIds[textId] for registered strings."""
    plain, registered = table.text_column("text"), table.strings("textId")
    codes = np.where(
        plain.codes >= 0,
        plain.codes,
        np.where(registered.codes >= 0, registered.codes + len(plain.names), -1),
    )
    return Labels(codes, plain.names + registered.names).map(str)


def _payload(table: Table) -> np.ndarray:
    """Return the integer payloads from the columns of their types."""
    payload = np.full(len(table), NULL, dtype=np.int64)
    for column in PAYLOADS:
        if table.has(column):
            payload = np.where(payload == NULL, table.integers(column), payload)
    return payload


def _domains(table: Table, event_type: np.ndarray, create: int, text: Labels) -> Labels:
    """Return the names of the domains. Ids of domains are unique only within a process."""
    return _named(_domain_keys(table), np.flatnonzero(event_type == create), text)


def _categories(table: Table, event_type: np.ndarray, category: int, text: Labels) -> Labels:
    """Return the names of the categories. Ids of categories are unique only within a process and domain."""
    keys = _pair(_domain_keys(table), table.integers("category", null=-1))
    named = _named(keys, np.flatnonzero(event_type == category), text)
    return Labels(np.where(table.integers("category") == NULL, -1, named.codes), named.names)


def _domain_keys(table: Table) -> np.ndarray:
    """Return one integer per process and domain."""
    return _pair(process_of(table.integers("globalTid")), table.integers("domainId", null=0))


def _pair(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return one integer per distinct pair."""
    return join_keys((first, second))[0]


def join_keys(*sets: tuple[np.ndarray, ...]) -> list[np.ndarray]:
    """Return one integer per distinct tuple of columns, equal across all sets: keys for `lookup` and
    grouping."""
    lengths = np.cumsum([len(columns[0]) for columns in sets])[:-1]
    key = np.zeros(sum(len(columns[0]) for columns in sets), dtype=np.int64)
    for parts in zip(*sets):
        part = codes(np.concatenate(parts))
        key = codes(key * (int(part.max(initial=0)) + 1) + part)
    return np.split(key, lengths)


def _named(keys: np.ndarray, definitions: np.ndarray, text: Labels) -> Labels:
    """Return for each row the text of the definition with the same key."""
    found = lookup(keys[definitions], keys)
    codes = np.where(found >= 0, text.codes[definitions[found]] if len(definitions) else -1, -1)
    return Labels(codes, text.names)


def _qualified(domain: Labels, text: Labels) -> Labels:
    """domain:text."""
    return combine(domain, text, lambda name, message: f"{name}:{message or ''}" if name else message or "")


def read_calls(profile: TableSource) -> Calls:
    """Read the CUDA API calls, of runtime and driver."""
    return read_host_calls(profile, "CUPTI_ACTIVITY_KIND_RUNTIME")


def read_system_calls(profile: TableSource) -> Calls:
    """Read the calls of the operating system's runtime, without rows of other event classes (start and stop
    of tracing)."""
    calls = read_host_calls(profile, "OSRT_API")
    calls = calls.take(np.isin(calls.event_class, (27, NULL)))
    if not len(calls):
        raise profile.missing("OSRT_API")
    return calls


def read_host_events(table: Table) -> HostEvents:
    """Read the times and threads of any table of events. Rows without end end at their start."""
    start, end = table.intervals(is_open=True)
    return HostEvents(start, np.where(end == NULL, start, end), table.integers("globalTid"))


def read_host_calls(profile: TableSource, name: str) -> Calls:
    """Read a table of calls on the host: of an API, the system, or a library that nsys traces separately."""
    profile.require(name)
    table = profile.table(name)
    table.load("start", "end", "globalTid", "correlationId", "nameId", "returnValue", "eventClass")
    start, end = table.intervals()
    return Calls(
        start=start,
        end=end,
        thread=table.integers("globalTid"),
        correlation=table.integers("correlationId"),
        result=table.integers("returnValue"),
        event_class=table.integers("eventClass"),
        name=named(table.strings("nameId")).map(strip_version),
    )


def read_operations(profile: TableSource) -> Operations:
    """Read all device operations of the file. Without one of their tables that it has, all sums would be too small."""
    profile.require(*ACTIVITIES.values())
    if unread := [name for name in ACTIVITIES.values() if name in profile.unread]:
        raise profile.missing(*unread)
    parts = [_read_activity(profile, kind) for kind, name in ACTIVITIES.items() if profile.has(name)]

    def joined(field: Field) -> np.ndarray | Labels:
        values = [getattr(part, field.name) for part in parts]
        return join_labels(values) if isinstance(values[0], Labels) else np.concatenate(values)

    return Operations.build(joined)


def join_labels(sets: list[Labels]) -> Labels:
    """Concatenate labels."""
    names: list[str] = []
    codes: list[np.ndarray] = []
    for labels in sets:
        codes.append(np.where(labels.codes >= 0, labels.codes + len(names), -1))
        names += labels.names
    return Labels(np.concatenate(codes), names).map(str)


def _read_activity(profile: TableSource, kind: int) -> Operations:
    table = profile.table(ACTIVITIES[kind])
    if kind == KERNEL:
        columns = [table.strings(column) for column in ("demangledName", "shortName", "mangledName")]
        name, short_name = named(*columns), named(columns[1], columns[0], columns[2])
    else:
        name = short_name = _operation_names(profile, table, kind)
    start, end = table.intervals()
    return Operations(
        start=start,
        end=end,
        kind=np.full(len(table), kind, dtype=np.int64),
        row=np.arange(len(table)),
        device=table.integers("deviceId"),
        context=table.integers("contextId"),
        stream=table.integers("streamId"),
        correlation=table.integers("correlationId"),
        process=process_of(table.integers("globalPid")),
        graph_node=table.integers("graphNodeId"),
        bytes=table.integers("bytes"),
        copy_kind=table.integers("copyKind"),
        source_kind=table.integers("memKind" if kind == MEMSET else "srcKind"),
        target_kind=table.integers("dstKind"),
        name=name,
        short_name=short_name,
    )


def named(*columns: Labels) -> Labels:
    """Return for each row the first name that a column has."""
    codes, names = np.full(len(columns[0]), -1, dtype=np.int64), list[str]()
    for column in columns:
        codes = np.where((codes < 0) & (column.codes >= 0), column.codes + len(names), codes)
        names += column.names
    return Labels(np.where(codes < 0, len(names), codes), [*names, NO_NAME]).map(str)


def _operation_names(profile: TableSource, table: Table, kind: int) -> Labels:
    """Return the names as nsys prints them."""
    if kind == MEMCPY:
        kinds = table.integers("copyKind").tolist()
        return label(f"[CUDA memcpy {profile.copy_kinds.get(code, f'kind {code}')}]" for code in kinds)
    if kind == MEMSET:
        return label(["[CUDA memset]"] * len(table))
    return label(f"[CUDA graph {graph}]" for graph in table.integers("graphId").tolist())


# Results of Profile.or_empty() for events that the file lacks.
EMPTY: dict[str, Callable[[], Columns]] = {
    "ranges": Ranges.empty,
    "marks": Ranges.empty,
    "calls": Calls.empty,
    "operations": Operations.empty,
    "system_calls": Calls.empty,
}
