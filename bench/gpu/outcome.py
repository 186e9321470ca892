# SPDX-License-Identifier: Apache-2.0
"""The outcome of one check: ok, failed, or skipped with the reason."""

from __future__ import annotations

from dataclasses import dataclass

OK, FAILED, SKIPPED = "ok", "failed", "skipped"


class Failed(Exception):
    """A check did not pass; the message says how."""


class Skipped(Exception):
    """A check cannot run here; the message is the reason."""


@dataclass(frozen=True)
class Outcome:
    """One row of the table of checks. note: figures in one line, the failure, or the reason of the skip."""

    name: str
    status: str
    seconds: float
    note: str

    def row(self) -> list[str]:
        """Return the cells of the row."""
        return [self.name, self.status, f"{self.seconds:.1f}", self.note]


def exit_status(outcomes: list[Outcome]) -> int:
    """Return 1 if a check failed, else 0."""
    return 1 if any(outcome.status == FAILED for outcome in outcomes) else 0
