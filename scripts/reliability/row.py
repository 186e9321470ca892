# SPDX-License-Identifier: Apache-2.0
"""A row of the table: its target, and the outcome of its measurement."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from scripts.output import Table

if TYPE_CHECKING:
    from .work import Work

NO_DEVICE = "not run here (no device)"


class Verdict(Enum):
    """Relation of the figure to the bar."""

    MET = "met"
    SHORT = "short"
    PART = "in part"  # everything that was measured is met
    NOT_RUN = "not run"


@dataclass(frozen=True)
class Outcome:
    """Result of a measurement.

    figure  the measured values, in a few words
    gap     the reason if the verdict is not MET; of SHORT: by how much
    note    how it was measured, and what it does not cover
    tables  details
    date, commit  of figures that another command measured
    """

    figure: str
    verdict: Verdict
    gap: str = ""
    note: str = ""
    tables: list[Table] = field(default_factory=list)
    date: str = ""
    commit: str = ""

    def __post_init__(self) -> None:
        """Reject a gap without a reason."""
        if (self.verdict is Verdict.MET) == bool(self.gap):
            raise ValueError(f"verdict {self.verdict.value} with the gap '{self.gap}'")


def judge(figure: str, misses: list[str], note: str = "", tables: list[Table] | None = None) -> Outcome:
    """Return an outcome that is met if there are no misses; each miss says by how much."""
    verdict = Verdict.SHORT if misses else Verdict.MET
    return Outcome(figure, verdict, "; ".join(misses), note, tables or [])


@dataclass(frozen=True)
class Row:
    """A target. measure: returns its outcome; command: reproduces it, if not that of this row alone."""

    name: str
    title: str
    target: str
    measure: Callable[[Work], Outcome]
    command: str = ""
