# SPDX-License-Identifier: Apache-2.0
"""Description of a frame file: what each event holds, and the range of its samples."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
from wirecell_profile.path_names import readable
from wirecell_profile.terminal import visible

from .channel_planes import ALL, planes_of
from .compare.result import ranges
from .formats.members import as_numpy
from .frame import Frame, SparseSamples, Traces
from .frame_files import read_frames

MAX_NOTE = 70  # letters of a note in the text


@dataclass(frozen=True)
class TagInfo:
    """One tag of one event. planes: plane -> count of channels, if known; minimum, maximum: of the finite samples."""

    tag: str
    form: str
    dtype: str
    channels: int
    ticks: int
    channel_ranges: str
    planes: dict[str, int]
    tick_ns: float
    start_ns: float
    first_tick: int
    has_summary: bool
    not_zero: int
    not_finite: int
    minimum: float
    maximum: float

    def layout(self) -> tuple[object, ...]:
        """Return the properties that the events of a file usually share."""
        return (
            self.tag, self.form, self.dtype, self.channels, self.ticks, self.channel_ranges, self.tick_ns,
            self.first_tick, self.has_summary,
        )  # fmt: skip


@dataclass(frozen=True)
class EventInfo:
    """One event. masks: name -> count of rows and the ranges of their channels."""

    ident: int
    tags: list[TagInfo]
    masks: dict[str, tuple[int, str]]
    notes: dict[str, str]


@dataclass
class FileInfo:
    """One file. bytes: its size on the disk."""

    path: str
    format: str
    bytes: int
    events: list[EventInfo] = field(default_factory=list)

    def json(self) -> dict[str, object]:
        """Return all events as a JSON object."""
        return asdict(self)

    def text(self) -> str:
        """Return the description; tags of equal layout in several events are described once."""
        idents = [event.ident for event in self.events]
        lines = [
            self.path,
            _line("format", f"{self.format}, {self.bytes:,} bytes"),
            _line(
                "events",
                f"{len(idents)}, id{'s' if len(idents) > 1 else ''} {ranges(idents, 8)}" if idents else "0",
            ),
        ]
        layouts: dict[tuple[object, ...], list[TagInfo]] = {}
        for event in self.events:
            for tag in event.tags:
                layouts.setdefault(tag.layout(), []).append(tag)
        for tags in layouts.values():
            lines += _tag_lines(tags, len(self.events))
        lines += _mask_lines(self.events)
        notes = dict.fromkeys((key, value) for event in self.events for key, value in event.notes.items())
        for key, value in notes:
            lines.append(
                _line("note", f"{key}: {value if len(value) <= MAX_NOTE else value[:MAX_NOTE] + '...'}")
            )
        return "\n".join(map(visible, lines)) + "\n"  # names and notes may hold newlines


def describe(path: Path) -> FileInfo:
    """Read a file, one event at a time, and describe it. Raise Error if it cannot be read."""
    events = [_event_info(frame) for frame in read_frames(path)]
    return FileInfo(readable(path), "".join(_endings(path)).lstrip(".") or "unknown", bytes_of(path), events)


def bytes_of(path: Path) -> int:
    """Return the size of a file, or of all files in a folder."""
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files)


def _endings(path: Path) -> list[str]:
    return path.suffixes[-2:] if path.suffixes[-2:-1] == [".tar"] else path.suffixes[-1:]


def _event_info(frame: Frame) -> EventInfo:
    masks = {name: (len(rows), ranges(rows[:, 0].tolist())) for name, rows in frame.masks.items()}
    return EventInfo(frame.ident, [_tag_info(traces) for traces in frame.traces.values()], masks, frame.notes)


def _tag_info(traces: Traces) -> TagInfo:
    is_sparse = isinstance(traces.samples, SparseSamples)
    values = traces.samples.values if isinstance(traces.samples, SparseSamples) else as_numpy(traces.samples)
    channels, ticks = traces.samples.shape
    is_finite = np.isfinite(values)
    finite = values if is_finite.all() else values[is_finite]
    extremes = [float(finite.min()), float(finite.max())] if finite.size else [0.0, 0.0]
    if values.size < channels * ticks:  # the samples outside of the runs are 0
        extremes = [min(extremes[0], 0.0), max(extremes[1], 0.0)]
    planes = {plane: len(ids) for plane, ids in planes_of(traces.channels).items() if plane != ALL}
    return TagInfo(
        traces.tag,
        "sparse" if is_sparse else "dense",
        str(values.dtype),
        channels,
        ticks,
        ranges(traces.channels.tolist()),
        planes,
        traces.tick_ns,
        traces.start_ns,
        traces.first_tick,
        traces.summary is not None,
        int(np.count_nonzero(values)),
        int((~is_finite).sum()),
        *extremes,
    )


def _line(name: str, words: str) -> str:
    return f"  {name:<10}{words}"


def _tag_lines(tags: list[TagInfo], events: int) -> list[str]:
    """Describe tags of equal layout."""
    tag = tags[0]
    some = f", in {len(tags)} of {events} events" if len(tags) < events else ""
    planes = ", ".join(f"{plane} {count}" for plane, count in tag.planes.items())
    share = sum(each.not_zero for each in tags) / sum(each.channels * each.ticks for each in tags)
    not_finite = sum(each.not_finite for each in tags)
    low, high = min(each.minimum for each in tags), max(each.maximum for each in tags)
    return [
        _line(
            "tag",
            f"{tag.tag}: {tag.channels:,} channels x {tag.ticks:,} ticks, {tag.dtype}, {tag.form}{some}",
        ),
        _line("", f"channels {tag.channel_ranges}{f' ({planes})' if planes else ''}"),
        _line(
            "",
            f"tick {tag.tick_ns:g} ns, start {_interval(each.start_ns for each in tags)} ns, first tick {tag.first_tick}",
        ),
        _line(
            "",
            f"{100 * share:.3g} % of the samples are not 0, {low:g} to {high:g}"
            + (f"; {not_finite:,} are NaN or infinite" if not_finite else "")
            + ("; with summary" if tag.has_summary else ""),
        ),
    ]


def _interval(values: Iterable[float]) -> str:
    known = list(values)
    low, high = min(known), max(known)
    return f"{low:.10g}" if low == high else f"{low:.10g} to {high:.10g}"


def _mask_lines(events: list[EventInfo]) -> list[str]:
    """Describe each mask once: its events, and the rows of the first."""
    lines = []
    for name in dict.fromkeys(name for event in events for name in event.masks):
        having = [event.masks[name] for event in events if name in event.masks]
        rows, channels = having[0]
        is_same = all(mask == having[0] for mask in having)
        words = f"{name}: {rows:,} rows, channels {channels}" if rows else f"{name}: empty"
        if not is_same:
            words += " in the first event"
        some = f", in {len(having)} of {len(events)} events" if len(having) < len(events) else ""
        lines.append(_line("mask", words + some))
    return lines
