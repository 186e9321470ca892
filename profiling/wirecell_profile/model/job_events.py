# SPDX-License-Identifier: Apache-2.0
"""Events of the job. An index counts the events of one process, so the key of an event is (process, index).

An event is cut if only a part of it is in the file: the capture window opened or closed during the event, the
recording ended before it, or it failed. In reports it is also cut if --time selects only a part of it. Cut events
have no latency. wire-cell reports to the recorder which events are whole (SPNG_EVENT). Otherwise an event is whole if
its range `event` in domain spng.sched has begun and ended; without definitions of that domain the program does
not annotate its events, and all count as whole.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from .events import Ranges, join_keys
from .identity import lookup, process_of
from .nodes import ENGINE_DOMAIN, NodeCalls
from .table import NULL, TableSource

EVENT_RANGE = "event"
FIRST, STEADY, CUT = "first", "steady", "cut"


@dataclass
class JobEvents:
    """Events with node calls in the file, by process and index. `of_call` has one entry per node call."""

    process: np.ndarray  # process_of(globalTid)
    index: np.ndarray
    is_cut: np.ndarray
    of_call: np.ndarray  # row of the event of each node call, -1 without one

    def __len__(self) -> int:
        return len(self.index)

    @property
    def is_first(self) -> np.ndarray:
        """Mask of the whole first events of their processes, which contain the costs of first use."""
        return (self.index == 0) & ~self.is_cut

    @property
    def is_steady(self) -> np.ndarray:
        """Mask of the other whole events."""
        return (self.index != 0) & ~self.is_cut

    def kind(self, row: int) -> str:
        """Return FIRST, STEADY or CUT."""
        return CUT if self.is_cut[row] else FIRST if self.index[row] == 0 else STEADY


class JobSource(TableSource, Protocol):
    """The part of a Profile that holds the events of the job."""

    @property
    def node_calls(self) -> NodeCalls:
        """Node calls. Raise MissingData if the file has none."""

    def or_empty(self, what: Literal["ranges"]) -> Ranges:
        """Return the ranges, empty if the file has none."""


def read_job_events(profile: JobSource) -> JobEvents:
    """Read the events of all node calls. Raise MissingData if the file has no node calls."""
    calls = profile.node_calls
    known = np.flatnonzero(calls.event != NULL)
    pairs = np.stack([process_of(calls.thread[known]), calls.event[known]])
    distinct, position = np.unique(pairs, axis=1, return_inverse=True)
    of_call = np.full(len(calls), -1, dtype=np.int64)
    of_call[known] = position.reshape(-1)
    process, index = distinct
    return JobEvents(process, index, _is_cut(profile, process, index), of_call)


def _is_cut(profile: JobSource, process: np.ndarray, index: np.ndarray) -> np.ndarray:
    """Return the mask of the events that are not whole."""
    by_range, annotating = _annotated(profile)
    without_range = np.isin(process, annotating) & ~_contains(by_range, (process, index))
    if not (profile.has("SPNG_EVENT") or (profile.lists("SPNG_EVENT") and profile.has("SPNG_CALL"))):
        return without_range  # a program that reports neither events nor calls to the recorder
    whole, noting = _recorded(profile)
    has_rows = np.isin(process, noting) if len(noting) else np.ones(len(process), bool)
    return np.where(has_rows, ~_contains(whole, (process, index)), without_range)


def _contains(pairs: tuple[np.ndarray, np.ndarray], wanted: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    keys, wanted_keys = join_keys(pairs, wanted)
    return lookup(keys, wanted_keys) >= 0


def _recorded(profile: JobSource) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """Return the whole events of SPNG_EVENT as (process, index), and the processes with rows in it."""
    table = profile.table("SPNG_EVENT")
    process, whole = process_of(table.integers("globalPid")), table.integers("whole") == 1
    return (process[whole], table.integers("event")[whole]), process


def _annotated(profile: JobSource) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """Return the events with a complete range as (process, index), and the processes that annotate events."""
    ranges = profile.or_empty("ranges")
    if not len(ranges):
        nothing = np.empty(0, np.int64)
        return (nothing, nothing), nothing
    is_event = ranges.domain.matching(ENGINE_DOMAIN.__eq__) & ranges.text.matching(EVENT_RANGE.__eq__)
    complete = ranges.take(is_event & (ranges.is_open == 0))
    return (process_of(complete.thread), complete.payload), _defining(profile)


def _defining(profile: JobSource) -> np.ndarray:
    """Return the processes that define the domain of the events."""
    table = profile.table("NVTX_EVENTS")
    creates = table.integers("eventType") == profile.event_types["NvtxDomainCreate"]
    names = [table.text_column("text"), table.strings("textId")]
    named = np.logical_or.reduce([name.matching(ENGINE_DOMAIN.__eq__) for name in names])
    return np.unique(process_of(table.integers("globalTid")[creates & named]))
