"""What is sent to a worker, and what comes back. Plain values only: a worker needs this package and no state of the client."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path


class Fault(Enum):
    """Whose fault a failure is, which decides what comes next."""

    FILE = "file"  # may succeed another time: tried again, elsewhere when there is another worker
    FINAL = "final"  # will fail everywhere: not tried again
    WORKER = "worker"  # says nothing about the file: tried elsewhere, and the worker is watched


class Outcome(Enum):
    """How an attempt ended."""

    PUBLISHED = "published"
    LOST = "lost"  # another attempt had published the file before
    FAILED = "failed"


@dataclass(frozen=True)
class Task:
    """One attempt at one file. Paths are absolute and the same on all machines, but for `local_scratch`."""

    root: str  # output folder
    name: str  # of the output
    input: str
    attempt: str  # begins the name of the scratch folder
    number: int  # of the attempt, from 1
    program: str
    config: str
    arguments: dict[str, str]
    settings: str  # digest
    commit: str
    files: list[str] = field(default_factory=list)  # that arguments name
    search_path: list[str] = field(default_factory=list)
    timeout: float | None = None  # s
    record_profile: bool = False
    local_scratch: str = (
        ""  # folder on the worker, may contain variables of its environment; empty: in the output folder
    )
    input_seen: bool = True  # by the client, so that a worker that does not see it is at fault

    @property
    def scratch(self) -> str:
        """Name of the attempt's folder in the scratch folder."""
        return f"{self.name}.{self.attempt}"


@dataclass(frozen=True)
class Result:
    """How an attempt ended, for the client."""

    outcome: Outcome
    host: str
    worker: str
    seconds: float
    fault: Fault | None = None
    block: str = ""  # what failed, as one readable block


class AttemptFailed(Exception):
    """Ends an attempt: whose fault, and the block for the user."""

    def __init__(self, fault: Fault, block: str) -> None:
        super().__init__(block)
        self.fault = fault
        self.block = block


def scratch_name(path: str | Path, root: str | Path) -> str:
    """A path inside the output folder as records keep it: relative, so that the folder may be moved."""
    return Path(path).relative_to(root).as_posix()
