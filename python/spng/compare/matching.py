# SPDX-License-Identifier: Apache-2.0
"""Pairs of events, tags, channels and ticks of two files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ..errors import Error
from ..frame import Frame, Traces

Frames = Callable[[], Iterable[Frame]]  # reads the events from the first
TagPair = tuple[str, str]


@dataclass(frozen=True)
class EventMatch:
    """How the events of two files belong together: by id, or by order if no id is in both or an id is not unique."""

    is_by_ident: bool
    idents_a: list[int]
    idents_b: list[int]

    @property
    def only_a(self) -> list[int]:
        """The ids of the events of A without partner."""
        return self._rest(self.idents_a, self.idents_b)

    @property
    def only_b(self) -> list[int]:
        """The ids of the events of B without partner."""
        return self._rest(self.idents_b, self.idents_a)

    def _rest(self, mine: list[int], others: list[int]) -> list[int]:
        return [ident for ident in mine if ident not in others] if self.is_by_ident else mine[len(others) :]


def match_events(a: Frames, b: Frames) -> EventMatch:
    """Read both files once and return how their events belong together."""
    idents_a, idents_b = ([frame.ident for frame in frames()] for frames in (a, b))
    is_unique = all(len(set(idents)) == len(idents) for idents in (idents_a, idents_b))
    return EventMatch(is_unique and bool(set(idents_a) & set(idents_b)), idents_a, idents_b)


def event_pairs(a: Frames, b: Frames, match: EventMatch) -> Iterator[tuple[Frame, Frame]]:
    """Yield the pairs in the order of A. Events of B that A has later wait in memory."""
    if not match.is_by_ident:
        yield from zip(a(), b())
        return
    common = set(match.idents_a) & set(match.idents_b)
    waiting: dict[int, Frame] = {}
    others = (frame for frame in b() if frame.ident in common)
    for frame in a():
        if frame.ident in common:
            while frame.ident not in waiting:
                other = next(others)
                waiting[other.ident] = other
            yield frame, waiting.pop(frame.ident)


def parse_tags(words: Iterable[str]) -> list[TagPair]:
    """Parse TAG or A_TAG:B_TAG."""
    pairs = [word.partition(":") for word in words]
    return [(one, other if colon else one) for one, colon, other in pairs]


def match_tags(a: Frame, b: Frame, wanted: list[TagPair] | None) -> list[TagPair]:
    """Return the pairs of tags to compare: those wanted, else the common tags, else the only tag of each.

    Raise Error if there is none.
    """
    if wanted:
        return wanted
    common = [(tag, tag) for tag in a.traces if tag in b.traces]
    if common:
        return common
    if len(a.traces) == len(b.traces) == 1:
        return [(next(iter(a.traces)), next(iter(b.traces)))]
    raise Error(
        "Usage",
        "the frames have no tag in common",
        f"events {a.ident} and {b.ident}",
        f"A: {', '.join(a.traces) or 'none'}; B: {', '.join(b.traces) or 'none'}",
        hint="give a pair of tags: A_TAG:B_TAG",
    )


def tag_of(frame: Frame, tag: str, name: str) -> Traces:
    """Return the traces of a tag. Raise Error if the frame has none."""
    if tag not in frame.traces:
        raise Error(
            "Usage", "no such tag", f"{name}, event {frame.ident}", tag, ", ".join(frame.traces) or "no tag"
        )
    return frame.traces[tag]


def match_rows(a: Traces, b: Traces, where: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows of A and of B of the common channels, in the order of A. Raise Error for a repeated channel."""
    for name, traces in (("A", a), ("B", b)):
        ids, counts = np.unique(traces.channels, return_counts=True)
        if (counts > 1).any():
            raise Error(
                "Input", "a channel has two rows", f"{name}, {where}", f"channel {ids[counts > 1][0]}"
            )
    _, rows_a, rows_b = np.intersect1d(a.channels, b.channels, assume_unique=True, return_indices=True)
    order = np.argsort(rows_a, kind="stable")
    return rows_a[order], rows_b[order]


def match_ticks(a: Traces, b: Traces) -> tuple[slice, slice]:
    """Return the columns of A and of B of the common ticks, which are counted from the start of the readout."""
    first = max(a.first_tick, b.first_tick)
    end = min(traces.first_tick + traces.samples.shape[1] for traces in (a, b))
    found = [slice(first - traces.first_tick, max(first, end) - traces.first_tick) for traces in (a, b)]
    return found[0], found[1]
