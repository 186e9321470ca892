# SPDX-License-Identifier: Apache-2.0
"""Phases before the first node call: the ranges of the NVTX domain `spng.startup`, and the time before the first one.

The time of a phase is that until the first call, without the listed phases inside. `other` is the time in no
listed phase. The rows of a process add up to its last one if no phases run in parallel; phases on two threads
add up to more. Phases shorter than SMALLEST_SHARE are not listed.

A recording says how old its process was when it began. An nsys export does not: there the first phase begins
with the first range.
"""

from __future__ import annotations

import numpy as np

from ..errors import MissingData
from ..model.events import Ranges
from ..model.grouping import percent
from ..model.identity import process_of
from ..model.nesting import NEVER, nest
from ..model.profile import Profile
from ..model.projection import union_length
from ..model.selection import Scope
from ..output import Result, columns

DOMAIN = "spng.startup"
INDENT = "  "
SMALLEST_SHARE = 0.001  # of the start-up, for a row
LOADING, OTHER, TOTAL = "load program, start recorder", "other", "until the first node call"


def phases(scope: Scope) -> Result:
    """Return the phases of each process in the order of their starts, the time in none, and the whole time.

    Raise MissingData if the file has no such ranges before a node call, no node calls, or only a part of it is
    selected.
    """
    profile = scope.profile
    if not scope.selection.is_everything:
        raise MissingData("the start-up is outside of the selected part of the profile")
    ranges = profile.ranges
    ranges = ranges.take(ranges.domain.matching(DOMAIN.__eq__))
    if not len(ranges):
        raise _missing(profile)
    calls = profile.node_calls
    of_range, of_call = process_of(ranges.thread), process_of(calls.thread)
    processes = np.unique(of_range).tolist()
    # Merged recordings have several.
    is_known = len(processes) == 1 and profile.manifest.get("process_age_ns", "").isdigit()
    known_age = profile.manifest_integer("process_age_ns") if is_known else 0
    rows: list[tuple] = []
    for process in processes:
        mine = of_call == process
        first_call = int(calls.start[mine].min(initial=NEVER))
        before = ranges.take((of_range == process) & (ranges.start < first_call))
        if mine.any() and len(before):
            prefix = f"process {profile.process_titles[process]}: " if len(processes) > 1 else ""
            rows += _of_process(before, first_call, known_age, prefix)
    if not rows:
        raise _missing(profile)
    return Result(columns("Phase, Time (ns), Share (%), Start (ns)"), rows)


def _missing(profile: Profile) -> MissingData:
    """Make the error for a file without phases before the first node call."""
    return MissingData(
        f"{profile.name} does not contain ranges of the start-up",
        seen=f"no range in the NVTX domain {DOMAIN} before the first node call",
        hint="record all events: the set-up is outside of a capture window",
    )


def _of_process(ranges: Ranges, first_call: int, age: int, prefix: str) -> list[tuple]:
    """Return the rows of one process.

    `age`: time from the start of the process to that of the recording [ns], 0 if unknown.
    """
    begin = -age if age else int(ranges.start.min())
    total = first_call - begin
    found: list[tuple[str, int, int | None]] = []
    if age:
        found.append((LOADING, int(ranges.start.min()) - begin, begin))
    listed = np.minimum(ranges.end, first_call) - ranges.start >= SMALLEST_SHARE * total
    ranges = ranges.take(np.flatnonzero(listed)[np.argsort(ranges.start[listed], kind="stable")])
    end = np.minimum(ranges.end, first_call)
    nesting = nest((ranges.start, end, ranges.thread))
    other = total - sum(time for _, time, _ in found) - union_length(ranges.start, end)
    for row, level in enumerate(nesting.level.tolist()):
        name = INDENT * level + ranges.text.text(row)
        found.append((name, int(nesting.exclusive[row]), int(ranges.start[row])))
    found.append((OTHER, other, None))
    found.append((TOTAL, total, begin))
    return [(prefix + name, time, percent(time, total), start) for name, time, start in found]
