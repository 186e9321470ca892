# SPDX-License-Identifier: Apache-2.0
"""Result of the comparison of two frames or files of frames."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from dataclasses import asdict, dataclass, field

import numpy as np

from .samples import SampleFigures, Tolerance


@dataclass(frozen=True)
class Location:
    """A sample that differs. tick: counted from the start of the readout."""

    event: int
    tag: str
    channel: int
    tick: int
    a: float
    b: float

    def json(self) -> dict[str, object]:
        """Return the location as a JSON object; values that are not finite are strings."""
        values = {name: v if np.isfinite(v) else str(v) for name, v in (("a", self.a), ("b", self.b))}
        return asdict(self) | values


@dataclass(frozen=True)
class MaskDifference:
    """Rows (channel, begin tick, end tick) of the masks of a name that are in only one file."""

    name: str
    only_a: list[list[int]]
    only_b: list[list[int]]


@dataclass(frozen=True)
class SummaryDifference:
    """Values of the summary that differ by more than the tolerance, and the largest |a - b|.

    only_in: "A" or "B" if the other has no summary
    """

    channels: int = 0
    largest: float = 0.0
    only_in: str = ""


@dataclass(frozen=True)
class Waveform:
    """The samples of both files around the first difference in a channel. first_tick: of the first sample."""

    channel: int
    first_tick: int
    a: np.ndarray
    b: np.ndarray


@dataclass(frozen=True)
class Picture:
    """Differences of one tag of one event.

    counts     (channel bin, tick bin) samples that differ; rows ordered by channel id
    channels   first and last channel id
    ticks      first tick, end tick
    waveforms  at the first differences
    """

    counts: np.ndarray
    channels: tuple[int, int]
    ticks: tuple[int, int]
    waveforms: list[Waveform]


@dataclass(frozen=True)
class TagComparison:
    """One tag of one event.

    tag                   "signal", or "gauss:signal" if the names differ
    planes                figures of the channels and ticks of both, by plane
    channels              count of channels of both
    only_a, only_b        ids of the channels of only one
    times                 name -> values of A and B, where they differ: ticks, first_tick, start_ns, tick_ns
    remarks               properties that differ, but count as equal: order of channels, type of samples
    """

    tag: str
    planes: dict[str, SampleFigures]
    channels: int
    only_a: list[int]
    only_b: list[int]
    times: dict[str, tuple[float, float]]
    summary: SummaryDifference | None
    remarks: list[str]
    tolerance: Tolerance
    picture: Picture | None = None

    @property
    def total(self) -> SampleFigures:
        """The figures of all planes."""
        return sum(self.planes.values(), SampleFigures())

    @property
    def has_equal_samples(self) -> bool:
        """Whether at most the tolerated share of the samples differs."""
        total = self.total
        return total.differing <= self.tolerance.share * total.union

    def failures(self) -> list[str]:
        """Return one line for each property that differs by more than the tolerance."""
        total, found = self.total, []
        if not self.has_equal_samples:
            planes = [f"{name} {each.differing:,}" for name, each in self.planes.items() if each.differing]
            found.append(f"{total.differing:,} of {total.union:,} samples differ ({', '.join(planes)})")
        for side, channels in (("A", self.only_a), ("B", self.only_b)):
            if channels:
                found.append(f"{_count(channels, 'channel')} only in {side}: {ranges(channels)}")
        if self.times:
            pairs = [f"{name} {a:.10g} and {b:.10g}" for name, (a, b) in self.times.items()]
            found.append(f"times differ: {', '.join(pairs)}")
        if self.summary and self.summary.only_in:
            found.append(f"only {self.summary.only_in} has a summary")
        elif self.summary:
            plural = "" if self.summary.channels == 1 else "s"
            found.append(
                f"the summary differs in {self.summary.channels:,} channel{plural}, by at most {self.summary.largest:g}"
            )
        return found

    def json(self) -> dict[str, object]:
        """Return the comparison as a JSON object."""
        kept = {
            name: getattr(self, name) for name in ("tag", "channels", "only_a", "only_b", "times", "remarks")
        }
        return kept | {
            "planes": {name: each.json() for name, each in self.planes.items()},
            "all": self.total.json(),
            "summary": asdict(self.summary) if self.summary else None,
            "differences": self.failures(),
        }


@dataclass(frozen=True)
class EventComparison:
    """One event. only_a, only_b: tags of only one file; notes: keys whose notes differ, which counts as equal."""

    ident_a: int
    ident_b: int
    tags: list[TagComparison]
    masks: list[MaskDifference]
    only_a: list[str]
    only_b: list[str]
    notes: list[str]

    @property
    def name(self) -> str:
        """The id, or both if they differ."""
        return str(self.ident_a) if self.ident_a == self.ident_b else f"{self.ident_a}:{self.ident_b}"

    def failures(self) -> list[str]:
        """Return one line for each property that differs by more than the tolerance."""
        found = [f"tag {tag.tag}: {line}" for tag in self.tags for line in tag.failures()]
        for mask in self.masks:
            for side, rows in (("A", mask.only_a), ("B", mask.only_b)):
                if rows:
                    found.append(
                        f"mask {mask.name}: {_count(rows, 'row')} only in {side}: {_rows_text(rows)}"
                    )
        for side, tags in (("A", self.only_a), ("B", self.only_b)):
            found += [f"tag {tag} is only in {side}" for tag in tags]
        return found

    def json(self) -> dict[str, object]:
        """Return the comparison as a JSON object."""
        kept = {name: getattr(self, name) for name in ("ident_a", "ident_b", "only_a", "only_b", "notes")}
        return kept | {
            "tags": [tag.json() for tag in self.tags],
            "masks": [asdict(mask) for mask in self.masks],
        }


@dataclass
class Comparison:
    """All events of A and B.

    events_only_a, events_only_b  ids of the events of only one
    is_by_ident                   whether events belong together by their ids, or by their order
    locations                        the first samples that differ
    """

    a: str
    b: str
    tolerance: Tolerance
    is_by_ident: bool
    events_only_a: list[int]
    events_only_b: list[int]
    events: list[EventComparison] = field(default_factory=list)
    locations: list[Location] = field(default_factory=list)

    @property
    def is_equal(self) -> bool:
        """Whether A and B agree within the tolerance."""
        return not (
            self.events_only_a or self.events_only_b or any(event.failures() for event in self.events)
        )

    def tags(self) -> list[str]:
        """Return the tags that were compared, in order."""
        return list(dict.fromkeys(tag.tag for _, tag in self.each_tag()))

    def each_tag(self, name: str | None = None) -> Iterator[tuple[EventComparison, TagComparison]]:
        """Yield each tag, or the tag of this name, of each event."""
        for event in self.events:
            for tag in event.tags:
                if name in (None, tag.tag):
                    yield event, tag

    def totals(self, tag: str) -> dict[str, SampleFigures]:
        """Return the figures of a tag over all events, by plane."""
        found: dict[str, SampleFigures] = {}
        for _, each in self.each_tag(tag):
            for plane, figures in each.planes.items():
                found[plane] = found.get(plane, SampleFigures()) + figures
        return found

    def total(self, tag: str) -> SampleFigures:
        """Return the figures of a tag over all events and planes."""
        return sum(self.totals(tag).values(), SampleFigures())

    def json(self) -> dict[str, object]:
        """Return the comparison as a JSON object."""
        kept = ("a", "b", "is_equal", "is_by_ident", "events_only_a", "events_only_b")
        totals = {
            tag: {plane: figures.json() for plane, figures in self.totals(tag).items()}
            | {"all": self.total(tag).json()}
            for tag in self.tags()
        }
        return {name: getattr(self, name) for name in kept} | {
            "tolerance": asdict(self.tolerance),
            "totals": totals,
            "events": [event.json() for event in self.events],
            "first_locations": [location.json() for location in self.locations],
        }


def _count(items: Sized, name: str) -> str:
    return f"{len(items):,} {name}{'' if len(items) == 1 else 's'}"


def _rows_text(rows: list[list[int]], limit: int = 3) -> str:
    """Return rows of a mask: 'channel 4 ticks 0-6000'; at most `limit` of them."""
    words = [f"channel {channel} ticks {begin}-{end}" for channel, begin, end in rows[:limit]]
    return ", ".join(words + (["..."] if len(rows) > limit else []))


def ranges(ids: list[int], limit: int = 4) -> str:
    """Return ids as ranges: '0-9, 12'; at most `limit` of them."""
    numbers = np.unique(ids)
    parts = np.split(numbers, np.flatnonzero(np.diff(numbers) > 1) + 1) if len(numbers) else []
    words = [f"{part[0]}" if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts[:limit]]
    return ", ".join(words + (["..."] if len(parts) > limit else []))
