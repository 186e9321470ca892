# SPDX-License-Identifier: Apache-2.0
"""Task for a worker, and its result. Plain values only: a worker needs this package, but no state of the client."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from .errors import CampaignError


class Fault(Enum):
    """Cause of a failure, which decides the next step."""

    FILE = "file"  # may succeed at another time: retried, on another worker if there is one
    FINAL = "final"  # would fail everywhere: not retried
    WORKER = "worker"  # not caused by the file: retried on another worker, and the worker is watched


class Outcome(Enum):
    """End of an attempt."""

    PUBLISHED = "published"
    LOST = "lost"  # another attempt had published the file before
    CANCELLED = "cancelled"  # the client had stopped before the attempt began
    FAILED = "failed"


@dataclass(frozen=True)
class Task:
    """One attempt at one file. Paths are absolute and the same on all machines, except `local_scratch`."""

    root: str  # output folder
    name: str  # of the output
    input: str
    attempt: str  # prefix of the name of the scratch folder
    attempt_index: int  # from 1
    program: str
    config: str
    arguments: dict[str, str]
    settings: str  # digest
    commit: str
    files: list[str] = field(default_factory=list)  # that arguments name
    search_path: list[str] = field(default_factory=list)
    timeout: float | None = None  # s
    record_profile: bool = False
    strict: bool = False  # doubtful input is an error
    local_scratch: str = (
        ""  # folder on the worker, may contain variables of its environment; empty: in the output folder
    )
    input_seen: bool = True  # by the client; then a worker that cannot open it is faulty

    @property
    def scratch(self) -> str:
        """Return the name of the attempt's folder in the scratch folder."""
        return f"{self.name}.{self.attempt}"


@dataclass(frozen=True)
class Result:
    """Result of an attempt, for the client."""

    outcome: Outcome
    host: str
    worker: str
    seconds: float
    fault: Fault | None = None
    block: str = ""  # what failed, as one readable block


class AttemptFailed(CampaignError):
    """Ends an attempt, with the fault and the parts of the error block."""

    def __init__(self, fault: Fault, what: str, *parts: str, **named: str) -> None:
        super().__init__(what, *parts, **named)
        self.fault = fault


def scratch_name(path: str | Path, root: str | Path) -> str:
    """Return a path in the output folder as records store it: relative, so that the folder may be moved."""
    return Path(path).relative_to(root).as_posix()
