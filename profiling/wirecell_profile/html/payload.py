# SPDX-License-Identifier: Apache-2.0
"""Data of the timeline inside the page: binary columns. templates/data.js reads them.

    uint32 length of the JSON text | JSON text, padded with blanks to 8 bytes | columns one after the other

Columns of the N bars: start, duration (float64, ns from the origin); name, note (uint32, index
into strings); event (int32, NO_EVENT without one); link (int32, index of the API call that launched it, -1
without); colour (uint16, padded to 8 bytes). Of the M bars of several events: busy (float64, ns), index and
count (uint32). Then time (float64, ns) and value (float64) of all counters'
points. The origin (the earliest time shown) and the lengths are in the JSON.
"""

from __future__ import annotations

import json
import struct

import numpy as np

from ..model.table import NULL
from ..model.window import Window
from .counters import Counter
from .packing import packed
from .timeline import Row, Timeline

NO_EVENT = -(2**31)


def encode(timeline: Timeline, counters: list[Counter], window: Window) -> str:
    """Return the base64 text."""
    rows = timeline.rows
    ends = [(row.start.min(), (row.start + row.duration).max()) for row in rows]
    ends += [(counter.time[0], counter.time[-1]) for counter in counters] + [(window.start, window.end)]
    origin, last = int(min(first for first, _ in ends)), int(max(end for _, end in ends))
    about = {
        "origin": origin,
        "length": last - origin,
        "window": [window.start - origin, window.end - origin, window.what],
        "strings": timeline.strings,
        "colours": timeline.colours,
        "events": timeline.bars,
        "merged": sum(int((row.count > 1).sum()) for row in rows),
        "longestMerged": timeline.merging.longest if timeline.merging else 0,
        "points": sum(len(counter.time) for counter in counters),
        "rows": _rows(rows),
        "counters": _counters(counters),
        "noEvent": NO_EVENT,
    }
    text = json.dumps(about, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 4) % 8)
    parts = [
        struct.pack("<I", len(text)),
        text,
        _column(rows, "start", "<f8", origin),
        _column(rows, "duration", "<f8"),
        _look(rows, "name", "<u4"),
        _look(rows, "note", "<u4"),
        _events(rows),
        _links(rows),
        _look(rows, "colour", "<u2"),
    ]
    parts.append(b"\0" * (-sum(map(len, parts)) % 8))
    parts += _merged(rows)
    parts += [_points(counters, "time", origin), _points(counters, "value")]
    return packed(*parts)


def _rows(rows: list[Row]) -> list[dict]:
    """Describe rows: title, group, kind, and [first, count] of each track's bars."""
    described, first = [], 0
    for row in rows:
        tracks = []
        for count in np.bincount(row.track).tolist():
            tracks.append([first, count])
            first += count
        described.append({"title": row.title, "group": row.group, "kind": row.kind, "tracks": tracks})
    return described


def _counters(counters: list[Counter]) -> list[dict]:
    described, first = [], 0
    for counter in counters:
        count = len(counter.time)
        described.append(
            {
                "title": counter.title,
                "group": counter.group,
                "unit": counter.unit,
                "first": first,
                "count": count,
                "averaged": counter.averaged,
            }
        )
        first += count
    return described


def _column(rows: list[Row], name: str, kind: str, origin: int = 0) -> bytes:
    return b"".join((getattr(row, name) - origin).astype(kind).tobytes() for row in rows)


def _look(rows: list[Row], name: str, kind: str) -> bytes:
    return b"".join(_given(row, name, 0).astype(kind).tobytes() for row in rows)


def _given(row: Row, name: str, other: int) -> np.ndarray:
    """Return a column of the look, filled with `other` if the row has none."""
    values = getattr(row.look, name)
    return np.full(len(row.start), other, np.int64) if values is None else values


def _merged(rows: list[Row]) -> list[bytes]:
    """Pack the busy time, index and count of the bars of several events."""
    if not rows:
        return []
    count = np.concatenate([row.count for row in rows])
    index = np.flatnonzero(count > 1)
    busy = np.concatenate([row.busy for row in rows])[index]
    return [busy.astype("<f8").tobytes(), index.astype("<u4").tobytes(), count[index].astype("<u4").tobytes()]


def _points(counters: list[Counter], name: str, origin: int = 0) -> bytes:
    return b"".join((getattr(counter, name) - origin).astype("<f8").tobytes() for counter in counters)


def _events(rows: list[Row]) -> bytes:
    """Pack indices of events; payloads beyond 32 bits are not indices."""
    found = [_given(row, "event", NULL) for row in rows]
    fits = [np.where((event == NULL) | (np.abs(event) >= 2**31), NO_EVENT, event) for event in found]
    return b"".join(values.astype("<i4").tobytes() for values in fits)


def _links(rows: list[Row]) -> bytes:
    """Convert rows of profile.calls to indices of the page's events, and pack them."""
    if not rows:
        return b""
    call = np.concatenate([_given(row, "call", -1) for row in rows])
    link = np.concatenate([_given(row, "link", -1) for row in rows])
    position = np.full(
        max(int(call.max()), int(link.max()), 0) + 2, -1, dtype=np.int64
    )  # the last element is for -1
    known = np.flatnonzero(call >= 0)
    position[call[known]] = known
    position[-1] = -1
    return position[link].astype("<i4").tobytes()
