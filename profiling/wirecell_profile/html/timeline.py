# SPDX-License-Identifier: Apache-2.0
"""Rows of the timeline: events with colours and tracks. payload.py packs them.

Ranges have the colour of their kind (palette.py). Events without such a kind (ranges of other programs,
kernels, calls) have a colour of SPARE chosen by name, so that equal names have equal colours on all pages.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from ..errors import MissingData
from ..model.events import GRAPH, KERNEL, MEMSET, PUSH_POP, START_END, Columns, Operations, Ranges
from ..model.identity import pid_of
from ..model.nesting import nest
from ..model.nodes import event_of
from ..model.selection import Scope
from ..model.table import NULL, Labels
from ..palette import PALETTE, colour_of
from ..tables.owner_use import is_waiting

SPARE = tuple("#5B8DB8 #C58B5C #6FA287 #B07AA1 #8C8CC4 #A8A05C #C77C7C #5FA5A5 #9C7B6B #7D93A6".split())
COPY_COLOURS = {
    1: "#2CA02C",
    2: "#C2185B",
    8: "#8C564B",
    10: "#BCBD22",
}  # by direction: to device, to host, on device, peer
COPY_OTHER, SET_COLOUR, GRAPH_COLOUR = "#A0A6AD", "#17BECF", PALETTE["replay"]
CALL_COLOUR, WAIT_COLOUR, SYSTEM_COLOUR = "#9AA5B1", "#D9534F", "#CFC6B8"
NOTE_LENGTH = 600  # characters; names of kernels can have thousands

Events = TypeVar("Events", bound=Columns)
TOP_GROUP = "Start/end ranges, marks"

NVTX, IN_FLIGHT, MARKS, API, SYSTEM, DEVICE = "nvtx", "flight", "marks", "api", "system", "device"


@dataclass
class Row:
    """Events drawn under one label. Arrays have one entry per event, ordered by track, then by start."""

    title: str
    group: str
    kind: str
    start: np.ndarray  # ns
    duration: np.ndarray  # ns
    track: np.ndarray  # 0 on top; events of a track do not overlap
    name: np.ndarray  # index into Timeline.strings
    note: np.ndarray  # index into Timeline.strings, 0: no note
    colour: np.ndarray  # index into Timeline.colours
    event: np.ndarray  # index of the event, NULL without one
    link: np.ndarray  # row of profile.calls that launched the device operation, else -1
    call: np.ndarray  # row of profile.calls for an API call, else -1


@dataclass
class Timeline:
    """All rows, top to bottom, with shared strings and colours."""

    rows: list[Row] = field(default_factory=list)
    strings: list[str] = field(default_factory=lambda: [""])
    colours: list[str] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)  # missing rows -> reason
    _string: dict[str, int] = field(default_factory=lambda: {"": 0})
    _colour: dict[str, int] = field(default_factory=dict)

    def string(self, text: str) -> int:
        """Return the index of a string, added if new."""
        if text not in self._string:
            self._string[text] = len(self.strings)
            self.strings.append(text)
        return self._string[text]

    def colour(self, colour: str) -> int:
        """Return the index of a colour, added if new."""
        if colour not in self._colour:
            self._colour[colour] = len(self.colours)
            self.colours.append(colour)
        return self._colour[colour]

    def labels(self, labels: Labels) -> np.ndarray:
        """Return the indices of labels."""
        table = np.array([self.string(name) for name in labels.names] + [0], dtype=np.int64)
        return table[labels.codes]

    def add(
        self,
        title: str,
        group: str,
        kind: str,
        events: Columns,
        *,
        name: np.ndarray,
        colour: np.ndarray,
        note: np.ndarray | None = None,
        level: np.ndarray | None = None,
        event: np.ndarray | None = None,
        link: np.ndarray | None = None,
        call: np.ndarray | None = None,
    ) -> None:
        """Add a row of events with start and end. `level`: preferred track per event."""
        if not len(events):
            return
        count = len(events)
        track = assign_tracks(
            events.start, events.end, level if level is not None else np.zeros(count, np.int64)
        )
        order = np.lexsort((events.start, track))

        def given(values: np.ndarray | None, other: int) -> np.ndarray:
            return np.full(count, other, np.int64) if values is None else values[order]

        self.rows.append(
            Row(
                title,
                group,
                kind,
                events.start[order],
                events.duration[order],
                track[order],
                name[order],
                given(note, 0),
                colour[order],
                given(event, NULL),
                given(link, -1),
                given(call, -1),
            )
        )


def assign_tracks(start: np.ndarray, end: np.ndarray, level: np.ndarray) -> np.ndarray:
    """Return for each event the first free track at its level or below.

    Properly nested events keep their level.
    """
    result = np.zeros(len(start), dtype=np.int64)
    free: list[int] = []  # end of the last event in each track
    order = np.lexsort((level, -end, start))
    for i, begin, finish, track in zip(
        order.tolist(), start[order].tolist(), end[order].tolist(), level[order].tolist()
    ):
        while track < len(free) and free[track] > begin:
            track += 1
        free += [0] * (track + 1 - len(free))
        free[track] = finish
        result[i] = track
    return result


def spare_colour(name: str) -> str:
    """Return the colour of a name without kind, equal on all pages."""
    return SPARE[zlib.crc32(name.encode()) % len(SPARE)]


def make_timeline(scope: Scope) -> Timeline:
    """Make all rows for which the profile has events."""
    timeline = Timeline()
    _host_rows(timeline, scope)
    _device_rows(timeline, scope)
    busy = {row.group for row in timeline.rows if row.kind != SYSTEM}
    timeline.rows.sort(
        key=lambda row: row.group not in busy
    )  # threads that only call the operating system come last
    return timeline


def _taken(scope: Scope, events: Events, rows: str) -> tuple[Events, np.ndarray]:
    """Return the selected events of a kind and their rows in the profile, empty if the file has none."""
    chosen = getattr(scope, rows) if len(events) else np.empty(0, np.int64)
    return events.take(chosen), chosen


def _host_rows(timeline: Timeline, scope: Scope) -> None:
    """Add events in flight, marks, then per thread: ranges, API calls, calls of the operating system."""
    profile = scope.profile
    ranges, _ = _taken(scope, profile.or_empty("ranges"), "range_rows")
    marks, _ = _taken(scope, profile.or_empty("marks"), "mark_rows")
    calls, call_rows = _taken(scope, profile.or_empty("calls"), "call_rows")
    system, _ = _taken(scope, profile.or_empty("system_calls"), "system_call_rows")
    for rows, what, events in (
        ("NVTX ranges", "ranges", ranges),
        ("CUDA API", "calls", calls),
        ("system calls", "system_calls", system),
    ):
        if not len(events):
            timeline.missing[rows] = _why(scope, what)
    _in_flight(timeline, ranges.take(ranges.style == START_END))
    _ranges(timeline, "Marks", TOP_GROUP, MARKS, marks)
    nested = ranges.take(ranges.style == PUSH_POP)
    if not len(ranges):
        _node_calls(timeline, scope)
    names = scope.profile.thread_names
    waiting = is_waiting(calls)
    threads = _busiest_first(nested.thread, calls.thread, system.thread)
    several = len(set(pid_of(np.array(threads, np.int64)).tolist())) > 1
    for thread in threads:
        label = f"thread {thread & 0xFFFFFF}"
        title = f"{names[thread]} ({label})" if names.get(thread) else label
        group = f"CPU {title}" + (f", process {int(pid_of(np.array([thread]))[0])}" if several else "")
        mine = nested.take(nested.thread == thread)
        _ranges(timeline, "NVTX ranges", group, NVTX, mine, nest((mine.start, mine.end, mine.thread)).level)
        chosen = calls.thread == thread
        of_api = calls.take(chosen)
        colour = np.array(
            [timeline.colour(WAIT_COLOUR if waits else CALL_COLOUR) for waits in waiting[chosen].tolist()],
            np.int64,
        )
        timeline.add(
            "CUDA API",
            group,
            API,
            of_api,
            name=timeline.labels(of_api.name),
            colour=colour,
            call=call_rows[chosen],
        )
        of_system = system.take(system.thread == thread)
        timeline.add(
            "system calls",
            group,
            SYSTEM,
            of_system,
            name=timeline.labels(of_system.name),
            colour=np.full(len(of_system), timeline.colour(SYSTEM_COLOUR)),
        )


def _why(scope: Scope, what: str) -> str:
    """Return why there are no events of a kind."""
    try:
        getattr(scope.profile, what)
    except MissingData as error:
        return error.what
    return f"the selected part has no {what}"


def _busiest_first(ranges: np.ndarray, calls: np.ndarray, system: np.ndarray) -> list[int]:
    """Return the threads with ranges, most ranges first, then those with API calls, then the others."""

    def count(threads: np.ndarray) -> dict[int, int]:
        found, counts = np.unique(threads, return_counts=True)
        return dict(zip(found.tolist(), counts.tolist()))

    parts = [count(threads) for threads in (ranges, calls, system)]
    return sorted(set().union(*parts), key=lambda thread: [-part.get(thread, 0) for part in parts])


def _in_flight(timeline: Timeline, ranges: Ranges) -> None:
    """Add start/end ranges: events on their way through the graph, and others separately."""
    is_event = ranges.category.matching("event".__eq__)
    _ranges(timeline, "Events in flight", TOP_GROUP, IN_FLIGHT, ranges.take(is_event))
    _ranges(timeline, "Start/end ranges", TOP_GROUP, IN_FLIGHT, ranges.take(~is_event))


def _ranges(
    timeline: Timeline, title: str, group: str, kind: str, ranges: Ranges, level: np.ndarray | None = None
) -> None:
    """Add a row of ranges."""
    colours, notes = {}, {}
    note, colour = np.zeros(len(ranges), np.int64), np.zeros(len(ranges), np.int64)
    keys = zip(ranges.domain.codes.tolist(), ranges.category.codes.tolist(), ranges.name.codes.tolist())
    for i, key in enumerate(keys):
        if key not in colours:
            category = ranges.category.text(i)
            known = category in PALETTE
            colours[key] = timeline.colour(
                colour_of(category) if known else spare_colour(ranges.name.text(i))
            )
            parts = (
                f"domain {ranges.domain.text(i)}" if ranges.domain.text(i) else "",
                f"kind {category}" if category else "",
            )
            notes[key] = timeline.string(", ".join(filter(None, parts)))
        colour[i], note[i] = colours[key], notes[key]
    if ranges.is_open.any():
        opened = timeline.string("never closed: drawn to the last time in the file")
        note = np.where(ranges.is_open == 1, opened, note)
    timeline.add(
        title,
        group,
        kind,
        ranges,
        name=timeline.labels(ranges.text),
        colour=colour,
        note=note,
        level=level,
        event=event_of(ranges),
    )


def _node_calls(timeline: Timeline, scope: Scope) -> None:
    """Add the node calls of a recording without ranges."""
    try:
        calls = scope.profile.node_calls.take(scope.node_call_rows)
    except MissingData:
        return
    colour = np.array([timeline.colour(spare_colour(text)) for text in calls.type.to_list()], dtype=np.int64)
    timeline.add(
        "node calls",
        "Nodes",
        NVTX,
        calls,
        name=timeline.labels(calls.node),
        colour=colour,
        event=calls.event,
        level=nest((calls.start, calls.end, calls.thread)).level,
    )


def _device_rows(timeline: Timeline, scope: Scope) -> None:
    """Add the streams of each device: kernels, copies, sets, graphs."""
    operations, rows = _taken(scope, scope.profile.or_empty("operations"), "operation_rows")
    if not len(operations):
        timeline.missing["streams"] = _why(scope, "operations")
        return
    launch = scope.projection.call_of_operation[rows]
    colour, note = _operation_colours(timeline, operations), _operation_notes(timeline, scope, operations)
    name = timeline.labels(operations.short_name)
    for device, stream in sorted(set(zip(operations.device.tolist(), operations.stream.tolist()))):
        mine = (operations.device == device) & (operations.stream == stream)
        timeline.add(
            f"stream {stream}",
            device_group(scope, device),
            DEVICE,
            operations.take(mine),
            name=name[mine],
            colour=colour[mine],
            note=note[mine],
            link=launch[mine],
        )


def device_group(scope: Scope, device: int) -> str:
    """Return the heading of a device's rows."""
    name = scope.profile.device_names.get(device)
    return f"GPU {device}: {name}" if name else f"GPU {device}"


def _operation_colours(timeline: Timeline, operations: Operations) -> np.ndarray:
    """Return colours: kernels by name, copies by direction."""
    names = [spare_colour(name) for name in operations.short_name.names] + [SPARE[0]]
    fixed = {MEMSET: SET_COLOUR, GRAPH: GRAPH_COLOUR}
    rows = zip(operations.kind.tolist(), operations.short_name.codes.tolist(), operations.copy_kind.tolist())
    return np.array(
        [
            timeline.colour(
                names[name] if kind == KERNEL else fixed.get(kind) or COPY_COLOURS.get(direction, COPY_OTHER)
            )
            for kind, name, direction in rows
        ],
        dtype=np.int64,
    )


def _operation_notes(timeline: Timeline, scope: Scope, operations: Operations) -> np.ndarray:
    """Return notes: full names of kernels; bytes, memory and throughput of copies."""
    names, short = operations.name.to_list(), operations.short_name.to_list()
    notes = []
    for i, (kind, size) in enumerate(zip(operations.kind.tolist(), operations.bytes.tolist())):
        text = names[i][:NOTE_LENGTH] if kind == KERNEL and names[i] != short[i] else ""
        if kind != KERNEL and size != NULL:
            ends = scope.profile.memory_kinds_of(operations, i)
            speed = f", {size / operations.duration[i]:.3g} GB/s" if operations.duration[i] > 0 else ""
            text = f"{size:,} B{speed}{ends and ', ' + ends}"
        notes.append(timeline.string(text))
    return np.array(notes, dtype=np.int64)
