# SPDX-License-Identifier: Apache-2.0
"""Expert rules: known causes of lost time, with location, advice and the command to run next.

Modules of this folder list their rules in RULES and are discovered automatically. A rule raises MissingData
if the file lacks its data; that is neither a finding nor a pass. Rules that nsys has too use its names and,
if its behaviour is known, its definitions.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

from ..model.selection import Scope


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


@dataclass(frozen=True)
class Rule:
    """A rule.

    `run(scope, limits)` finds the hits; `next_tool` selects the next commands (next_commands.py).
    """

    name: str
    about: str
    advice: str
    run: Callable[[Scope, Limits], Found]
    next_tool: str


def all_rules() -> dict[str, Rule]:
    """Return name -> rule, in order of the names."""
    modules = (
        importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)
    )
    found = [rule for module in modules for rule in getattr(module, "RULES", ())]
    return {rule.name: rule for rule in sorted(found, key=lambda rule: rule.name)}


def apply(
    scope: Scope, rules: Iterable[Rule], limits: Limits
) -> tuple[list[tuple[Rule, Found]], dict[str, str]]:
    """Apply rules; return the hits of each, and for rules without data in the file the reason."""
    by_name = {rule.name: rule for rule in rules}
    found, missing = scope.make_all({name: partial(_run, rule, limits) for name, rule in by_name.items()})
    return [(by_name[name], of_rule) for name, of_rule in found.items()], missing


def _run(rule: Rule, limits: Limits, scope: Scope) -> Found:
    return rule.run(scope, limits)
