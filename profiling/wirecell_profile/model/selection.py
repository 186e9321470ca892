# SPDX-License-Identifier: Apache-2.0
"""Parts of a profile: --range, --node, --event and --time.

--time A-B keeps events that start in [A, B), so that adjacent time windows are disjoint and complete. The
other filters keep ranges and calls that lie completely within a selected range or node call on the same
thread, and the device operations launched there. Events must pass all given filters.
"""

from __future__ import annotations

import argparse
import difflib
import fnmatch
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np

from ..errors import MissingData, UsageError
from .events import HostEvents, Ranges
from .identity import lookup, pid_of, process_of
from .nesting import nest
from .nodes import NodeProjection
from .profile import Profile
from .projection import Pairs, Projected, Projection
from .table import NULL

Made = TypeVar("Made")

NEVER = int(np.iinfo(np.int64).max)
UNITS = {"": 1, "ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
TIME = re.compile(r"(\d+(?:\.\d+)?)(ns|us|ms|s|)")


@dataclass(frozen=True)
class Selection:
    """The filters; empty ones select everything. Names can have the wildcards * and ?."""

    ranges: tuple[str, ...] = ()  # domain:text or text
    nodes: tuple[str, ...] = ()  # Type:instance, Type or instance
    events: tuple[int, int] | None = None  # first and last event
    process: int | None = None  # pid of the events' process; None: all processes
    time: tuple[int | None, int | None] = (None, None)  # ns

    @property
    def chooses_nodes(self) -> bool:
        """Whether a filter needs node calls."""
        return bool(self.nodes) or self.events is not None

    def covers(self, time: Any) -> Any:
        """Return whether a time, or each of an array of times, lies in --time."""
        first, last = self.time
        return (time >= (NULL if first is None else first)) & (time < (NEVER if last is None else last))

    @property
    def is_everything(self) -> bool:
        """Whether there is no filter."""
        return not self.ranges and not self.chooses_nodes and self.time == (None, None)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the four options, the same for every command that reads one profile."""
    parts = parser.add_argument_group("part of the profile")
    parts.add_argument(
        "--range",
        action="append",
        default=[],
        metavar="NAME",
        dest="ranges",
        help="events within ranges of this name (text or domain:text; wildcards * and ?)",
    )
    parts.add_argument(
        "--node",
        action="append",
        default=[],
        metavar="NAME",
        dest="nodes",
        help="events within calls of this node (Type:instance, Type or instance; wildcards * and ?)",
    )
    parts.add_argument(
        "--event",
        metavar="[PID:]N[-M]",
        help="events within node calls for event N, or for events N to M, of all processes or of one",
    )
    parts.add_argument(
        "--time",
        metavar="A-B",
        help="events that start at A or later and before B; with unit as in 1.2s-1500ms, default ns; A or B can be omitted",
    )


def from_arguments(arguments: argparse.Namespace) -> Selection:
    """Make the selection from the options. Raise UsageError if one is invalid."""
    process, events = parse_events(arguments.event) if arguments.event else (None, None)
    return Selection(
        tuple(arguments.ranges),
        tuple(arguments.nodes),
        events,
        process,
        parse_window(arguments.time) if arguments.time else (None, None),
    )


def parse_events(text: str) -> tuple[int | None, tuple[int, int]]:
    """Parse '3', '3-5' or '4711:3-5' to the pid, None without one, and the first and last event."""
    found = re.fullmatch(r"(?:(\d+):)?(\d+)(?:-(\d+))?", text)
    if not found or int(found[3] or found[2]) < int(found[2]):
        expected = "N, N-M or PID:N-M with N <= M, such as 2-5"
        raise UsageError("invalid events", "--event", text, expected)
    return int(found[1]) if found[1] else None, (int(found[2]), int(found[3] or found[2]))


def parse_window(text: str) -> tuple[int | None, int | None]:
    """Parse '1.2s-1500ms', '100-' or '-2s' to ns."""
    parts = text.split("-")
    times = [parse_time(part) if part else None for part in parts]
    first, last = times if len(times) == 2 else (None, None)
    is_empty = first is not None and last is not None and first >= last
    if is_empty or (first is None and last is None):
        raise UsageError("invalid time window", "--time", text, "A-B with A before B, such as 1.2s-1500ms")
    return first, last


def parse_time(text: str) -> int:
    """Parse '1.5ms' to ns, exactly, without floating point."""
    found = TIME.fullmatch(text.strip())
    if not found:
        raise UsageError("invalid time", "--time", text, "a number with ns, us, ms, s or nothing (ns)")
    whole, _, fraction = found[1].partition(".")
    return (int(whole + fraction) * UNITS[found[2]]) // 10 ** len(fraction)


def matches(pattern: str, name: str) -> bool:
    """Return whether the name equals the pattern or matches its wildcards."""
    return name == pattern or fnmatch.fnmatchcase(name, pattern)


def matches_node(pattern: str, node: str) -> bool:
    """Return whether Type:instance, Type or instance matches."""
    return any(matches(pattern, name) for name in (node, *node.split(":", 1)))


class Scope:
    """The selected part of a profile.

    Row indices refer to the events of the whole profile, and so does the assignment of operations to ranges
    and nodes. A property raises MissingData if the file has no events of its kind.
    """

    def __init__(self, profile: Profile, selection: Selection = Selection()) -> None:
        self.profile = profile
        self.selection = selection

    def make_all(
        self, makers: Mapping[str, Callable[[Scope], Made]]
    ) -> tuple[dict[str, Made], dict[str, str]]:
        """Apply functions to this part; return their results, and for those without data in the file the reason."""
        made: dict[str, Made] = {}
        missing: dict[str, str] = {}
        for name, make in makers.items():
            try:
                made[name] = make(self)
            except MissingData as error:
                missing[name] = error.what
        return made, missing

    @cached_property
    def projection(self) -> Projection:
        """Projection of the whole profile."""
        return Projection.of(self.profile)

    @cached_property
    def node_projection(self) -> NodeProjection:
        """Projection of the whole profile."""
        return NodeProjection(self.profile, self.profile.node_calls, self.projection)

    @cached_property
    def range_rows(self) -> np.ndarray:
        """Rows of profile.ranges."""
        return self.host_rows(self.profile.ranges)

    @cached_property
    def mark_rows(self) -> np.ndarray:
        """Rows of profile.marks."""
        return self.host_rows(self.profile.marks)

    @cached_property
    def call_rows(self) -> np.ndarray:
        """Rows of profile.calls."""
        return self.host_rows(self.profile.calls)

    @cached_property
    def system_call_rows(self) -> np.ndarray:
        """Rows of profile.system_calls."""
        return self.host_rows(self.profile.system_calls)

    @cached_property
    def node_call_rows(self) -> np.ndarray:
        """Rows of profile.node_calls: those of a selected node or event, and calls within them."""
        return self.host_rows(self.profile.node_calls)

    @cached_property
    def operation_rows(self) -> np.ndarray:
        """Rows of profile.operations."""
        return np.flatnonzero(self._operation_mask)

    @cached_property
    def _operation_mask(self) -> np.ndarray:
        mask = self.selection.covers(self.profile.operations.start)
        if not (self.selection.ranges or self.selection.chooses_nodes):
            return mask
        launch = self.projection.call_of_operation
        calls = self.profile.or_empty("calls")
        if self.selection.ranges:
            mask &= self._launched_within(self._within(calls, self._chosen_ranges), launch)
        if self.selection.chooses_nodes:
            noted = self.node_projection.call_of_operation
            known = np.isin(noted, self._chosen_node_calls)
            mask &= known | self._launched_within(self._within(calls, self._chosen_intervals), launch)
        return mask

    @staticmethod
    def _launched_within(inside: np.ndarray, launch: np.ndarray) -> np.ndarray:
        """Return the mask of operations whose launching call is inside."""
        return np.append(inside, False)[launch]  # -1 (no launching call) selects the appended value

    def host_rows(self, events: HostEvents) -> np.ndarray:
        """Return the rows of host events (start, end, thread) that pass all filters."""
        return np.flatnonzero(self._host_mask(events))

    def _host_mask(self, events: HostEvents) -> np.ndarray:
        """Return the mask of host events that pass all filters."""
        mask = self.selection.covers(events.start)
        if self.selection.ranges:
            mask &= self._within(events, self._chosen_ranges)
        if self.selection.chooses_nodes:
            mask &= self._within(events, self._chosen_intervals)
        return mask

    @staticmethod
    def _within(events: HostEvents, around: HostEvents) -> np.ndarray:
        """Return the mask of events that lie within one of the others on the same thread."""
        intervals = (events.start, events.end, events.thread)
        inside = nest((around.start, around.end, around.thread), intervals).innermost >= 0
        return inside & events.on_one_thread if isinstance(events, Ranges) else inside

    @cached_property
    def _chosen_ranges(self) -> Ranges:
        ranges = self.profile.ranges
        mask = np.zeros(len(ranges), dtype=bool)
        for pattern in self.selection.ranges:
            test = partial(matches, pattern)
            found = ranges.name.matching(test) | ranges.text.matching(test)
            if not found.any():
                raise unknown("range", pattern, set(ranges.name.to_list()))
            mask |= found
        return ranges.take(mask & ranges.on_one_thread)

    @cached_property
    def _chosen_node_calls(self) -> np.ndarray:
        """Return the rows of the selected node calls."""
        calls = self.profile.node_calls
        mask = np.ones(len(calls), dtype=bool)
        if self.selection.nodes:
            mask[:] = False
            for pattern in self.selection.nodes:
                found = calls.node.matching(partial(matches_node, pattern))
                if not found.any():
                    raise unknown("node", pattern, set(calls.node.to_list()))
                mask |= found
        if self.selection.events is not None:
            first, last = self.selection.events
            during = (calls.event >= first) & (calls.event <= last)
            if self.selection.process is not None:
                during &= pid_of(calls.thread) == self.selection.process
            if not during.any():
                raise UsageError(
                    "no such event in the profile",
                    "--event",
                    f"{first}-{last}"
                    + (f" of process {self.selection.process}" if self.selection.process is not None else ""),
                    hint=f"the file has events of the processes {', '.join(self._titles(calls.thread))}",
                )
            titles = self._titles(calls.thread[during])
            if self.selection.process is not None and len(titles) > 1:
                raise UsageError(
                    "several processes with these events have this pid",
                    "--event",
                    f"{self.selection.process}:{first}-{last}, which is in {' and '.join(titles)}",
                    hint="give the file of one process instead of the merged file",
                )
            mask &= during
        return np.flatnonzero(mask)

    def _titles(self, threads: np.ndarray) -> list[str]:
        """Return the titles of the processes of these threads."""
        processes = np.unique(process_of(threads)).tolist()
        return sorted(self.profile.process_titles[process] for process in processes)

    @cached_property
    def _chosen_intervals(self) -> HostEvents:
        return self.node_projection.spans.take(self._chosen_node_calls)

    @cached_property
    def pairs(self) -> Pairs:
        """Pairs (range, operation), both selected."""
        pairs = self.projection.pairs
        if self.selection.is_everything:
            return pairs
        keep = np.isin(pairs.range, self.range_rows) & self._operation_mask[pairs.operation]
        return Pairs(pairs.range[keep], pairs.operation[keep])

    @cached_property
    def projected(self) -> Projected:
        """The selected ranges with their selected operations as seen on the device."""
        whole = self.projection.project(self._operation_mask & self.projection.is_counted)
        keep = lookup(self.range_rows, whole.range) >= 0
        return Projected(
            whole.range[keep],
            whole.start[keep],
            whole.end[keep],
            whole.launches[keep],
            whole.operations[keep],
        )


def unknown(what: str, pattern: str, names: set[str]) -> UsageError:
    """Make the error for an unknown name, with the nearest known ones."""
    near = difflib.get_close_matches(pattern, names, n=3, cutoff=0.3)
    return UsageError(
        f"no such {what} in the profile",
        f"--{what}",
        pattern,
        hint=f"nearest: {', '.join(near)}" if near else "",
    )
