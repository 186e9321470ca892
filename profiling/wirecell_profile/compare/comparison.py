# SPDX-License-Identifier: Apache-2.0
"""Comparison of two sides of runs, node by node: times with statistics, counts exactly.

The first events of a run include one-time preparations; they are excluded and shown separately.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field

from ..errors import UsageError
from . import statistics
from .count_rows import GREW, CountRow, compared_counts
from .measurements import Run
from .time_rows import SLOWER, TOO_SHORT, Criteria, TimeRow, judged_times, wall_by_node


@dataclass(frozen=True)
class Side:
    """Description of a side."""

    name: str
    commit: str
    runs: int
    events: int  # steady events per run
    first_run: str
    last_run: str


@dataclass(frozen=True)
class Comparison:
    """Result of a comparison of B with A."""

    a: Side
    b: Side
    criteria: Criteria
    times: list[TimeRow]
    counts: list[CountRow]
    only_a: dict[str, float]  # nodes of one side -> wall time per event, ns
    only_b: dict[str, float]
    forced: list[str] = field(default_factory=list)  # conditions that differ, accepted with --force
    notes: list[str] = field(default_factory=list)

    @property
    def slower(self) -> list[TimeRow]:
        """Rows judged slower."""
        return [row for row in self.times if row.verdict == SLOWER]

    @property
    def grown(self) -> list[CountRow]:
        """Counts that grew."""
        return [row for row in self.counts if row.verdict == GREW]

    @property
    def needed_runs(self) -> int:
        """Least runs per side with which a difference of one of the tested times would be found."""
        tests = sum(row.verdict != TOO_SHORT for row in self.times)
        return statistics.needed_runs(max(tests, 1), self.criteria.level)

    @property
    def exit_status(self) -> int:
        """1 if a node is slower or a count grew, else 0."""
        return 1 if self.slower or self.grown else 0

    def json(self) -> dict:
        """Return the result for JSON. Values of unjudged nodes and unbounded effects are null."""
        result = {"schema": "spng-comparison-1"} | asdict(self)
        result["times"] = [
            {
                key: None if isinstance(value, float) and not math.isfinite(value) else value
                for key, value in row.items()
            }
            for row in result["times"]
        ]
        return result | {"needed_runs": self.needed_runs, "exit_status": self.exit_status}


def compare(
    a: list[Run],
    b: list[Run],
    criteria: Criteria,
    names: tuple[str, str] = ("A", "B"),
    force: bool = False,
) -> Comparison:
    """Compare runs of B with runs of A.

    Raise UsageError if a side is unusable, or conditions differ without `force`.
    """
    differences = different_conditions(a, b, names)
    if differences and not force:
        raise UsageError(
            "cannot compare these runs",
            seen="\n".join(differences),
            expected="equal settings, input, machine and instrumentation on all runs",
            hint="run them under equal conditions, or compare with --force",
        )
    for name, runs in zip(names, (a, b)):
        check_events(name, runs, criteria.warm_up)
    times = judged_times(a, b, criteria)
    nodes_a, nodes_b = wall_by_node(a, criteria.warm_up), wall_by_node(b, criteria.warm_up)
    return Comparison(
        describe(names[0], a, criteria),
        describe(names[1], b, criteria),
        criteria,
        times,
        compared_counts(a, b, criteria.warm_up),
        {node: time for node, time in nodes_a.items() if node not in nodes_b},
        {node: time for node, time in nodes_b.items() if node not in nodes_a},
        differences,
        notes_on(a, b),
    )


def different_conditions(a: list[Run], b: list[Run], names: tuple[str, str]) -> list[str]:
    """Return a line "name: A value, B value" for each condition that differs, and for mixed commits in a side.

    An argument that was not given has the value of its default. Runs that do not tell it have that of the others.
    """
    lines = []
    of_others = {name: text for run in [*a, *b] for name, text in run.defaults.items()}
    known = [[of_others | run.defaults | run.conditions for run in runs] for runs in (a, b)]
    for condition in dict.fromkeys(name for run in [*a, *b] for name in run.conditions):
        without = "not given" if condition.startswith("argument ") else "unknown"
        values = [list(dict.fromkeys(each.get(condition, without) for each in runs)) for runs in known]
        if len(values[0]) > 1 or values[0] != values[1]:
            lines.append(
                f"{condition}: "
                + ", ".join(
                    f"{name} {' and '.join(value or 'none' for value in seen)}"
                    for name, seen in zip(names, values)
                )
            )
    for name, runs in zip(names, (a, b)):
        commits = list(dict.fromkeys(run.commit for run in runs))
        if len(commits) > 1:
            lines.append(f"commit: {name} mixes {', '.join(commit or 'unknown' for commit in commits)}")
    failed = [run.source for run in [*a, *b] if run.conditions.get("failed calls", "0") != "0"]
    if failed:
        lines.append(f"failed calls in {', '.join(failed[:3])}" + (" and others" if len(failed) > 3 else ""))
    return lines


def check_events(name: str, runs: list[Run], warm_up: int) -> None:
    """Raise UsageError if there are no runs, or if a run has no event after the warm-up."""
    if not runs:
        raise UsageError(f"side {name} has no runs")
    for run in runs:
        if not run.is_steady(warm_up).any():
            raise UsageError(
                "a run has no event after the warm-up",
                run.source,
                f"events {', '.join(map(str, run.events))}",
                f"an event after the first {warm_up} of the process",
                "give an input with more events, or --warm-up 0",
            )


def describe(name: str, runs: list[Run], criteria: Criteria) -> Side:
    """Description of a side."""
    return Side(
        name,
        runs[0].commit,
        len(runs),
        min(int(run.is_steady(criteria.warm_up).sum()) for run in runs),
        min(run.time for run in runs),
        max(run.time for run in runs),
    )


def notes_on(a: list[Run], b: list[Run]) -> list[str]:
    """Return warnings about the validity of the comparison."""
    notes = []
    order = [side for _, side in sorted([(run.time, 0) for run in a] + [(run.time, 1) for run in b])]
    changes = sum(before != after for before, after in zip(order, order[1:]))
    if len(a) > 1 and len(b) > 1 and changes <= 1 and all(run.time for run in [*a, *b]):
        notes.append(
            "all runs of one side came before those of the other: a drift of the machine would look like a "
            "difference. Alternate the runs (as wirecell-profile compare-branches does)"
        )
    given = {name for run in [*a, *b] for name in run.conditions}
    for name in sorted(a[0].defaults.keys() & b[0].defaults.keys() - given):
        values = a[0].defaults[name], b[0].defaults[name]
        if values[0] != values[1]:
            notes.append(f"the default of {name} differs: A {values[0]}, B {values[1]}")
    dirty = [name for name, runs in (("A", a), ("B", b)) if runs[0].commit.endswith("-dirty")]
    if dirty:
        notes.append(f"built with changes that are not committed: {', '.join(dirty)}")
    return notes
