# SPDX-License-Identifier: Apache-2.0
"""Decisions after a failure, independent of the engine."""

from __future__ import annotations

from dataclasses import dataclass, field

from .task import Fault, Result

MAX_LOSSES = 10  # workers lost while processing one file, after which the file is considered the cause
MAX_WORKER_FAULTS = 5  # attempts at one file that may fail by the worker's fault
FAULTY_AFTER = 2  # consecutive files that failed by a worker's fault, after which it gets no more


@dataclass
class History:
    """History of one file in this run."""

    attempts: int = 0
    failures: list[Result] = field(default_factory=list)
    losses: int = 0
    worker_faults: int = 0

    @property
    def avoided(self) -> set[str]:
        """Return the workers on which the file failed."""
        return {failure.worker for failure in self.failures if failure.worker}

    def is_retried(self, failure: Result, retries: int) -> bool:
        """Note a failure; return whether there is another attempt."""
        self.failures.append(failure)
        if failure.fault is Fault.WORKER:
            self.worker_faults += 1
            return self.worker_faults < MAX_WORKER_FAULTS
        if failure.fault is Fault.FINAL:
            return False
        return sum(one.fault is Fault.FILE for one in self.failures) <= retries

    def is_loss_retried(self) -> bool:
        """Note the loss of the file's worker; return whether there is another attempt."""
        self.losses += 1
        return self.losses < MAX_LOSSES


class WorkerWatch:
    """Finds workers that fail every file. A worker with a full disk would fail the whole list quickly."""

    def __init__(self) -> None:
        self._failed: dict[str, set[str]] = {}

    def note(self, worker: str, name: str, fault: Fault | None) -> bool:
        """Note the fault of a worker at a file (None: success); return whether it gets no more files."""
        if fault is not Fault.WORKER:
            self._failed.pop(worker, None)
            return False
        failed = self._failed.setdefault(worker, set())
        failed.add(name)
        return len(failed) == FAULTY_AFTER
