# SPDX-License-Identifier: Apache-2.0
"""Limits of measured values, with the verdict: met, missed, excepted, or not run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

MET, MISSED, EXCEPTED, NOT_RUN = "met", "missed", "excepted", "not run"


@dataclass(frozen=True)
class Limit:
    """A value of a study must be at least `low` and at most `high`; None: no limit on this side.

    is_optional  no bar without a value
    exception    why a value beyond the limit is no miss; empty: it is one
    worst        highest value that the exception covers
    """

    key: str
    what: str
    low: float | None
    high: float | None
    unit: str = ""
    digits: int = 3
    is_optional: bool = False
    exception: str = ""
    worst: float = math.inf

    def text(self) -> str:
        """Return the limit as text."""
        if self.low is not None and self.high is not None:
            return f"{self.low:g} to {self.high:g}"
        return f"at least {self.low:g}" if self.low is not None else f"at most {self.high:g}"

    def verdict(self, value: float | None) -> str:
        """Return the verdict. A value that is nan misses the limit, whatever the exception."""
        if value is None:
            return NOT_RUN
        above = self.low is None or value >= self.low
        below = self.high is None or value <= self.high
        if math.isnan(value):
            return MISSED
        if above and below:
            return MET
        return EXCEPTED if self.exception and value <= self.worst else MISSED


def at_least(key: str, what: str, low: float, unit: str = "", digits: int = 3) -> Limit:
    """Return a limit from below."""
    return Limit(key, what, low, None, unit, digits)


def at_most(key: str, what: str, high: float, unit: str = "", digits: int = 3, **more: Any) -> Limit:
    """Return a limit from above."""
    return Limit(key, what, None, high, unit, digits, **more)


def bar(study: str, limit: Limit, value: float | None, problem: str) -> dict[str, Any]:
    """Return the content of the JSON file. problem: why there is no value."""
    verdict = limit.verdict(value)
    return {
        "study": study,
        "key": limit.key,
        "what": limit.what,
        "unit": limit.unit,
        "digits": limit.digits,
        "low": limit.low,
        "high": limit.high,
        "limit": limit.text(),
        "value": value,
        "verdict": verdict,
        "exception": limit.exception if verdict == EXCEPTED else "",
        "problem": problem if verdict == NOT_RUN else "",
    }
