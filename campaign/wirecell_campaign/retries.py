"""What comes after a failure: the decisions, without any engine."""

from __future__ import annotations

from dataclasses import dataclass, field

from .task import Fault, Result

LOSSES_MOST = 10  # workers that may be lost under one file; then it is taken for the cause
WORKER_FAULTS_MOST = 5  # workers that may fail one file by their own fault
FAULTY_AFTER = 2  # files that a worker failed in a row by its own fault; then it gets no more


@dataclass
class History:
    """What happened to one file in this run."""

    attempts: int = 0
    failures: list[Result] = field(default_factory=list)
    losses: int = 0
    worker_faults: int = 0

    @property
    def avoided(self) -> set[str]:
        """Workers on which it failed."""
        return {failure.worker for failure in self.failures if failure.worker}

    def is_tried_again(self, failure: Result, retries: int) -> bool:
        """Note a failure; returns whether there is another attempt."""
        self.failures.append(failure)
        if failure.fault is Fault.WORKER:
            self.worker_faults += 1
            return self.worker_faults < WORKER_FAULTS_MOST
        if failure.fault is Fault.FINAL:
            return False
        return sum(one.fault is Fault.FILE for one in self.failures) <= retries

    def is_loss_tried_again(self) -> bool:
        """Note that the worker was lost under the file; returns whether there is another attempt."""
        self.losses += 1
        return self.losses < LOSSES_MOST


class WorkerWatch:
    """Finds workers that fail every file: one with a full disk is quick at that and would eat the list."""

    def __init__(self) -> None:
        self._failed: dict[str, set[str]] = {}

    def note(self, worker: str, name: str, fault: Fault | None) -> bool:
        """Note how a worker did with a file (None: well); returns whether it is to get no more."""
        if fault is not Fault.WORKER:
            self._failed.pop(worker, None)
            return False
        failed = self._failed.setdefault(worker, set())
        failed.add(name)
        return len(failed) == FAULTY_AFTER
