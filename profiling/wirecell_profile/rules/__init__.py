"""Expert rules: what in a profile is known to cost time, where it is, what to do, and which command to run next.

A module of this folder lists its rules in RULES; all are found by themselves. A rule that needs what the file lacks raises
MissingData: that is no finding and no absence of one. Rules that nsys has carry its names and, where its behaviour is
known, its meaning (shared/docs/profiling.md 2.2).
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field

from ..model.selection import Scope


@dataclass(frozen=True)
class Limits:
    """What counts as bad. Times in ns."""

    gap: int = 20_000  # idle device between operations
    chunks: int = 30  # equal parts of the time from first to last operation
    utilisation: float = 50.0  # percent of a chunk
    short_kernel: int = 3_000
    storm: int = 100  # short kernels in one instance of a range


@dataclass(frozen=True)
class Hit:
    """One place that a rule found."""

    start: int  # ns
    duration: int  # ns, what it cost
    what: str  # operation, call or chunk
    range_row: int = -1  # innermost range around it on the host, row of profile.ranges
    kernel_row: int = -1  # a kernel to look at with ncu, row of profile.operations
    note: str = ""


@dataclass
class Found:
    """What a rule found, the most expensive first."""

    hits: list[Hit] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.hits.sort(key=lambda hit: (-hit.duration, hit.start))

    @property
    def total(self) -> int:
        """Durations added up, ns."""
        return sum(hit.duration for hit in self.hits)


@dataclass(frozen=True)
class Rule:
    """`run(scope, limits)` finds the places. `next_tool`: which kind of command line helps further, see next_commands.py."""

    name: str
    about: str
    advice: str
    run: Callable[[Scope, Limits], Found]
    next_tool: str


def all_rules() -> dict[str, Rule]:
    """name -> rule, in order of the names."""
    modules = (
        importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)
    )
    found = [rule for module in modules for rule in getattr(module, "RULES", ())]
    return {rule.name: rule for rule in sorted(found, key=lambda rule: rule.name)}
