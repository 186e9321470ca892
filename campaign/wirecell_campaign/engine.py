"""The engine, Dask distributed, as far as a campaign uses it: submit, see what ended, know the workers, retire one.

Calls that need the scheduler do nothing while it is away. The client of distributed connects again by itself when a scheduler
comes back at its address within the patience; what had been submitted is then reported as lost, and submitted again.
"""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import dataclass

from distributed import Client, Future, get_worker
from distributed.comm.core import CommClosedError
from distributed.scheduler import KilledWorker

from .attempt import run_attempt
from .cluster import Supply
from .errors import CampaignError
from .task import Result, Task

REFILL = 3.0  # s between two looks whether workers are missing
AWAY = (OSError, CommClosedError, TimeoutError)


@dataclass(frozen=True)
class Ended:
    """A task that needs attention: its result, or that it was lost, with its worker or with the scheduler."""

    task: Task
    result: Result | None
    lost_worker: bool = False
    error: str = ""  # of the engine, such as a worker without this package


def on_worker(task: Task) -> Result:
    """What runs on a worker."""
    return run_attempt(task, get_worker().address)


class Engine:
    """A connected client and its running tasks."""

    def __init__(self, client: Client, supply: Supply | None = None) -> None:
        self._client = client
        self._supply = supply
        self._last_refill = -REFILL
        self._running: dict[Future, Task] = {}
        self._threads: dict[str, int] = {}
        self.changed = threading.Event()  # set whenever a task ends

    def submit(self, task: Task, avoided: set[str]) -> None:
        """Start a task, not on workers that are to be avoided if there is another."""
        good = sorted(set(self._threads) - avoided)
        restriction = (
            {"workers": good, "allow_other_workers": True} if good and len(good) < len(self._threads) else {}
        )
        future = self._client.submit(
            on_worker, task, key=f"{task.name}-{task.attempt}", pure=False, **restriction
        )
        self._running[future] = task
        future.add_done_callback(lambda _: self.changed.set())

    def ended(self) -> list[Ended]:
        """The tasks that ended since the last call, in no order."""
        found = [(future, task) for future, task in self._running.items() if future.status != "pending"]
        for future, _ in found:
            del self._running[future]
        return [self._describe(future, task) for future, task in found]

    def _describe(self, future: Future, task: Task) -> Ended:
        if future.status == "error":
            error = future.exception()
            lost = isinstance(error, KilledWorker)
            return Ended(task, None, lost, "" if lost else f"{type(error).__name__}: {error}")
        if future.status != "finished":  # cancelled, lost: the scheduler went away
            return Ended(task, None)
        try:
            return Ended(task, future.result(timeout=30))
        except Exception as error:  # the worker ended before its result was fetched, or the scheduler is away
            return Ended(
                task, None, error="" if isinstance(error, AWAY) else f"{type(error).__name__}: {error}"
            )

    def running(self) -> list[Task]:
        """What was submitted and has not ended."""
        return list(self._running.values())

    def cancel(self, task: Task) -> None:
        """Take a task back. One that has started on a worker runs to its end there."""
        for future, one in list(self._running.items()):
            if one is task:
                del self._running[future]
                if self.is_connected():
                    future.cancel()

    def look_at_workers(self) -> dict[str, int]:
        """Address -> threads of the workers of now; empty while the scheduler is away."""
        self._threads = {}
        if self.is_connected():
            with contextlib.suppress(*AWAY):
                self._threads = dict(self._client.nthreads())
        return self._threads

    def retire(self, worker: str) -> None:
        """Have a worker end, without another in its place on this machine."""
        with contextlib.suppress(*AWAY):
            self._client.retire_workers([worker])

    def refill(self, retired: int) -> None:
        """Have workers replaced that are gone, where they belong to the campaign; so many were retired."""
        now = time.monotonic()
        if self._supply and now - self._last_refill >= REFILL:
            self._last_refill = now
            self._supply.refill(retired)

    def is_connected(self) -> bool:
        """Whether the scheduler answers."""
        return self._client.status == "running"

    def is_closed(self) -> bool:
        """Whether the client gave up to wait for the scheduler."""
        return self._client.status in ("closing", "closed")

    def require_package(self) -> None:
        """CampaignError when workers cannot import this package: they would fail every task."""
        try:
            answers = self._client.run(import_package, on_error="return")
        except AWAY as error:
            raise CampaignError("the workers do not answer", seen=str(error)) from None
        bad = {worker: answer for worker, answer in answers.items() if isinstance(answer, BaseException)}
        if bad:
            raise CampaignError(
                "workers cannot run tasks of this campaign",
                ", ".join(sorted(bad)),
                "; ".join(sorted({f"{type(answer).__name__}: {answer}" for answer in bad.values()})),
                "the Python environment of this command on every worker",
                "start the workers with the same Python, for example by its path on a shared file system",
            )


def import_package() -> None:
    """On a worker: does nothing. To find this function there the worker imported the package and all that a task needs."""
