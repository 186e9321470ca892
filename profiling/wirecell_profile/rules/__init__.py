# SPDX-License-Identifier: Apache-2.0
"""Expert rules: known causes of lost time, with location, advice and the command to run next.

Modules of this folder are discovered automatically; they register functions with @rule. A rule raises MissingData
if the file lacks its data; that is neither a finding nor a pass. Rules that nsys has too use its names and,
if its behaviour is known, its definitions.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from ..model.events import Columns
from ..model.selection import Scope
from ..model.table import Labels


@dataclass(frozen=True)
class Limits:
    """Limits of the rules. Times in ns."""

    gap: int = 20_000  # idle device between operations
    chunks: int = 30  # equal parts of the time from first to last operation
    utilisation: float = 50.0  # percent of a chunk
    short_kernel: int = 3_000
    storm: int = 100  # short kernels in one instance of a range
    wait: int = 1_000_000  # of a node call


@dataclass(frozen=True)
class Hit:
    """One occurrence of a rule's pattern."""

    start: int  # ns
    duration: int  # lost time, ns
    what: str  # operation, call or chunk
    range_row: int = -1  # row of profile.ranges: innermost range around it on the host
    kernel_row: int = -1  # row of profile.operations: a kernel to examine with ncu
    note: str = ""


@dataclass
class Found:
    """All hits of a rule, the most expensive first."""

    hits: list[Hit] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.hits.sort(key=lambda hit: (-hit.duration, hit.start))

    @property
    def total(self) -> int:
        """Sum of the durations [ns]."""
        return sum(hit.duration for hit in self.hits)


def hits_of(
    events: Columns,
    rows: np.ndarray,
    names: Labels,
    around: np.ndarray | None,
    note: Callable[[int], str] = lambda row: "",
) -> Found:
    """Return some events as hits. `names`, `around` (rows of ranges, None: unknown): of all events."""
    return Found(
        [
            Hit(
                int(events.start[row]),
                int(events.duration[row]),
                names.text(row),
                -1 if around is None else int(around[row]),
                note=note(row),
            )
            for row in rows.tolist()
        ]
    )


Run = Callable[[Scope, Limits], Found]


@dataclass(frozen=True)
class Rule:
    """A rule.

    `run(scope, limits)` finds the hits; `next_tool` selects the next commands (next_commands.py).
    """

    name: str
    about: str
    advice: str
    run: Run
    next_tool: str


_registered: dict[str, Rule] = {}


def rule(about: str, advice: str, next_tool: str) -> Callable[[Run], Run]:
    """Register the decorated function as the rule of its name."""

    def decorate(run: Run) -> Run:
        _registered[run.__name__] = Rule(run.__name__, about, advice, run, next_tool)
        return run

    return decorate


def all_rules() -> dict[str, Rule]:
    """Return name -> rule, in order of the names."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    return dict(sorted(_registered.items()))


def apply(
    scope: Scope, rules: Iterable[Rule], limits: Limits
) -> tuple[list[tuple[Rule, Found]], dict[str, str]]:
    """Apply rules; return the hits of each, and for rules without data in the file the reason."""
    by_name = {rule.name: rule for rule in rules}
    found, missing = scope.make_all({name: partial(_run, rule, limits) for name, rule in by_name.items()})
    return [(by_name[name], of_rule) for name, of_rule in found.items()], missing


def _run(rule: Rule, limits: Limits, scope: Scope) -> Found:
    return rule.run(scope, limits)
