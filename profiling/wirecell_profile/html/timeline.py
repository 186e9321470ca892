# SPDX-License-Identifier: Apache-2.0
"""Rows of the timeline: events with colours and tracks. payload.py packs them.

Ranges have the colour of their kind (palette.py). Events without such a kind (ranges of other programs,
kernels, calls) have a colour of SPARE chosen by name, so that equal names have equal colours on all pages.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from ..errors import MissingData
from ..model.events import (
    GRAPH,
    KERNEL,
    MEMSET,
    PUSH_POP,
    START_END,
    Calls,
    Columns,
    HostEvents,
    Operations,
    Ranges,
)
from ..model.grouping import group
from ..model.identity import pid_of, process_of
from ..model.nesting import nest
from ..model.nodes import NodeCalls, event_of
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

MAX_EVENTS = 1_000_000  # on a page; with more, short ones are merged
DEPTH = 4  # assumed tracks per thread and stream, for the length of the parts that are merged


@dataclass
class Look:
    """Appearance of events. Indices refer to the lists of Timeline; None: none of them has one."""

    name: np.ndarray  # index of the name
    colour: np.ndarray
    note: np.ndarray | None = None
    event: np.ndarray | None = None  # index of the event, NULL without one
    link: np.ndarray | None = None  # row of profile.calls that launched the device operation, else -1
    call: np.ndarray | None = None  # row of profile.calls for an API call, else -1


@dataclass
class Row:
    """Bars drawn under one label. Arrays have one entry per bar, ordered by track, then by start.

    A bar is an event, or several short ones, of which it has the look of the longest.
    """

    title: str
    group: str
    kind: str
    start: np.ndarray  # ns
    duration: np.ndarray  # ns
    busy: np.ndarray  # sum of the durations of the bar's events, ns
    count: np.ndarray  # events of the bar
    track: np.ndarray  # 0 on top; bars of a track do not overlap
    look: Look


@dataclass(frozen=True)
class Merging:
    """Rule for merging: events of a track that last at most `longest` and begin in one `tile` [ns]."""

    longest: int
    tile: int

    @classmethod
    def of(cls, sets: list[HostEvents | Operations], max_bars: int) -> Merging | None:
        """Return the rule under which a third of `max_bars` events stay separate; None for at most that many."""
        sets = [events for events in sets if len(events)]
        count = sum(map(len, sets))
        if count <= max_bars:
            return None
        rank = count - max_bars // 3 - 1
        longest = int(np.partition(np.concatenate([events.duration for events in sets]), rank)[rank])
        extent = max(int(events.end.max()) for events in sets) - min(
            int(events.start.min()) for events in sets
        )
        tracks_of = (events.thread if isinstance(events, HostEvents) else events.stream for events in sets)
        tracks = DEPTH * sum(len(np.unique(track)) for track in tracks_of)
        return cls(longest, extent * tracks // (max_bars // 3) + 1)

    def first(self, row: Row) -> np.ndarray:
        """Return the first of the bars that become one, for each."""
        short = (row.duration <= self.longest) | (row.count > 1)
        tile = row.start // self.tile
        joined = short[1:] & short[:-1] & (tile[1:] == tile[:-1]) & (row.track[1:] == row.track[:-1])
        return np.flatnonzero(np.append(True, ~joined))


def merge(row: Row, first: np.ndarray) -> tuple[Row, np.ndarray]:
    """Join the bars from each of `first` to the next; return the row without look, and the longest of each."""
    size = np.diff(np.append(first, len(row.start)))
    longest = np.flatnonzero(row.duration == np.repeat(np.maximum.reduceat(row.duration, first), size))
    of_bar = np.searchsorted(first, longest, "right")
    longest = longest[np.append(True, of_bar[1:] != of_bar[:-1])]
    end = np.maximum.reduceat(row.start + row.duration, first)
    start, track = row.start[first], row.track[first]
    busy, count = np.add.reduceat(row.busy, first), np.add.reduceat(row.count, first)
    return replace(row, start=start, duration=end - start, busy=busy, count=count, track=track), longest


@dataclass
class Timeline:
    """All rows, top to bottom, with shared strings and colours."""

    merging: Merging | None = None
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
        used, position = np.unique(labels.codes, return_inverse=True)
        table = [self.string(labels.names[code] if code >= 0 else "") for code in used.tolist()]
        return np.array(table, dtype=np.int64)[position]

    def add(
        self,
        title: str,
        group: str,
        kind: str,
        events: Events,
        look: Callable[[Events, np.ndarray], Look],
        rows: np.ndarray | None = None,
        level: np.ndarray | None = None,
    ) -> None:
        """Add events, or some rows of them. `look`: function of the drawn events and their rows. `level`: preferred track
        per event."""
        rows = np.arange(len(events)) if rows is None else rows
        start, end = events.start[rows], events.end[rows]
        if not len(rows):
            return
        track = assign_tracks(start, end, np.zeros(len(rows), np.int64) if level is None else level)
        order = np.lexsort((start, track))
        start, duration, rows = start[order], (end - start)[order], rows[order]
        row = Row(title, group, kind, start, duration, duration, np.ones_like(rows), track[order], NO_LOOK)
        if self.merging:
            row, longest = merge(row, self.merging.first(row))
            rows = rows[longest]
        drawn = look(events.take(rows), rows)
        if self.merging:
            one = row.count == 1
            for part, other in (("event", NULL), ("link", -1), ("call", -1)):
                if (values := getattr(drawn, part)) is not None:
                    setattr(drawn, part, np.where(one, values, other))
        self.rows.append(replace(row, look=drawn))

    @property
    def merged(self) -> int:
        """Count of the events that are not drawn on their own."""
        return sum(int(row.count[row.count > 1].sum()) for row in self.rows)

    @property
    def bars(self) -> int:
        """Count of all bars."""
        return sum(len(row.start) for row in self.rows)


NO_LOOK = Look(np.empty(0, np.int64), np.empty(0, np.int64))


def assign_tracks(start: np.ndarray, end: np.ndarray, level: np.ndarray) -> np.ndarray:
    """Return for each event the first free track at its level or below.

    Properly nested events keep their level.
    """
    order = np.lexsort((end, start, level))
    crossing = (level[order][1:] == level[order][:-1]) & (start[order][1:] < end[order][:-1])
    if not crossing.any():
        return level
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


def make_timeline(scope: Scope, max_bars: int = MAX_EVENTS) -> Timeline:
    """Make all rows for which the profile has events, with at most about `max_bars` bars."""
    kinds = [
        ("ranges", "range_rows"),
        ("marks", "mark_rows"),
        ("calls", "call_rows"),
        ("system_calls", "system_call_rows"),
        ("operations", "operation_rows"),
    ]
    timeline = Timeline(Merging.of([_taken(scope, *kind)[0] for kind in kinds], max_bars))
    _host_rows(timeline, scope)
    _device_rows(timeline, scope)
    busy = {row.group for row in timeline.rows if row.kind != SYSTEM}
    timeline.rows.sort(
        key=lambda row: row.group not in busy
    )  # threads that only call the operating system come last
    return timeline


def _taken(scope: Scope, what: str, rows: str) -> tuple[Any, np.ndarray]:
    """Return the selected events of a kind and their rows in the profile, empty if the file has none."""
    events = scope.profile.or_empty(what)
    chosen = getattr(scope, rows) if len(events) else np.empty(0, np.int64)
    return events.take(chosen), chosen


def _host_rows(timeline: Timeline, scope: Scope) -> None:
    """Add events in flight, marks, then per thread: ranges, API calls, calls of the operating system."""
    ranges, _ = _taken(scope, "ranges", "range_rows")
    marks, _ = _taken(scope, "marks", "mark_rows")
    calls, call_rows = _taken(scope, "calls", "call_rows")
    system, _ = _taken(scope, "system_calls", "system_call_rows")
    for rows, what, events in (
        ("NVTX ranges", "ranges", ranges),
        ("CUDA API", "calls", calls),
        ("system calls", "system_calls", system),
    ):
        if not len(events):
            timeline.missing[rows] = _why(scope, what)
    _in_flight(timeline, ranges)
    timeline.add("Marks", TOP_GROUP, MARKS, marks, partial(_range_look, timeline))
    nested = np.flatnonzero(ranges.style == PUSH_POP)
    if not len(ranges):
        _node_calls(timeline, scope)
    names = scope.profile.thread_names
    waiting = is_waiting(calls)
    threads = _busiest_first(ranges.thread[nested], calls.thread, system.thread)
    several = len({int(process_of(thread)) for thread in threads}) > 1

    def call_look(events: Calls, rows: np.ndarray) -> Look:
        colours = [WAIT_COLOUR if waits else CALL_COLOUR for waits in waiting[rows].tolist()]
        colour = np.array([timeline.colour(colour) for colour in colours], dtype=np.int64)
        return Look(timeline.labels(events.name), colour, call=call_rows[rows])

    def system_look(events: Calls, _: np.ndarray) -> Look:
        return Look(timeline.labels(events.name), np.full(len(events), timeline.colour(SYSTEM_COLOUR)))

    for thread in threads:
        label = f"thread {thread & 0xFFFFFF}"
        title = f"{names[thread]} ({label})" if names.get(thread) else label
        process = scope.profile.process_titles.get(int(process_of(thread)), str(pid_of(thread)))
        group = f"CPU {title}" + (f", process {process}" if several else "")
        mine = nested[ranges.thread[nested] == thread]
        _nested(timeline, "NVTX ranges", group, NVTX, ranges, partial(_range_look, timeline), mine)
        mine = np.flatnonzero(calls.thread == thread)
        _nested(timeline, "CUDA API", group, API, calls, call_look, mine)
        mine = np.flatnonzero(system.thread == thread)
        _nested(timeline, "system calls", group, SYSTEM, system, system_look, mine)


def _nested(
    timeline: Timeline,
    title: str,
    group: str,
    kind: str,
    events: HostEvents,
    look: Callable[[Any, np.ndarray], Look],
    rows: np.ndarray,
) -> None:
    """Add some of the events, inner ones below outer ones."""
    level = nest((events.start[rows], events.end[rows], events.thread[rows])).level
    timeline.add(title, group, kind, events, look, rows, level)


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
    look, is_own = partial(_range_look, timeline), ranges.style == START_END
    for title, mask in (("Events in flight", is_event), ("Start/end ranges", ~is_event)):
        timeline.add(title, TOP_GROUP, IN_FLIGHT, ranges, look, np.flatnonzero(is_own & mask))


def _range_look(timeline: Timeline, ranges: Ranges, _: np.ndarray) -> Look:
    """Return the look of ranges or marks."""
    colours, notes = {}, {}
    note, colour = np.zeros(len(ranges), np.int64), np.zeros(len(ranges), np.int64)
    keys = zip(ranges.domain.codes.tolist(), ranges.category.codes.tolist(), ranges.name.codes.tolist())
    for i, key in enumerate(keys):
        if key not in colours:
            category = ranges.category.text(i)
            known = category in PALETTE
            colours[key] = timeline.colour(
                colour_of(category) if known else spare_colour(ranges.folded.text(i))
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
    return Look(timeline.labels(ranges.text), colour, note, event=event_of(ranges))


def _node_calls(timeline: Timeline, scope: Scope) -> None:
    """Add the node calls of a recording without ranges."""
    try:
        calls = scope.profile.node_calls.take(scope.node_call_rows)
    except MissingData:
        return

    def look(drawn: NodeCalls, _: np.ndarray) -> Look:
        colour = [timeline.colour(spare_colour(text)) for text in drawn.type.to_list()]
        return Look(timeline.labels(drawn.node), np.array(colour, dtype=np.int64), event=drawn.event)

    level = nest((calls.start, calls.end, calls.thread)).level
    timeline.add("node calls", "Nodes", NVTX, calls, look, level=level)


def _device_rows(timeline: Timeline, scope: Scope) -> None:
    """Add the streams of each device: kernels, copies, sets, graphs."""
    operations, chosen = _taken(scope, "operations", "operation_rows")
    if not len(operations):
        timeline.missing["streams"] = _why(scope, "operations")
        return
    launch = scope.projection.call_of_operation[chosen]

    def look(drawn: Operations, rows: np.ndarray) -> Look:
        name, note = timeline.labels(drawn.short_name), _operation_notes(timeline, scope, drawn)
        return Look(name, _operation_colours(timeline, drawn), note, link=launch[rows])

    streams = group(operations.device, operations.stream).rows()
    for rows in sorted(streams, key=lambda mine: (operations.device[mine[0]], operations.stream[mine[0]])):
        device, stream = int(operations.device[rows[0]]), int(operations.stream[rows[0]])
        timeline.add(f"stream {stream}", device_group(scope, device), DEVICE, operations, look, rows)


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
