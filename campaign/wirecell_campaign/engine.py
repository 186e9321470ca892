# SPDX-License-Identifier: Apache-2.0
"""Interface to the engine, Dask distributed: submit tasks, collect ended ones, query and retire workers.

Calls that need the scheduler do nothing while it is away. The client of distributed reconnects if a scheduler comes back at its
address within the timeout; tasks submitted before are then reported as lost, and the dispatcher submits them again.
"""

from __future__ import annotations

import contextlib
import sys
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

REFILL = 3.0  # s between two checks for missing workers
AWAY = (OSError, CommClosedError, TimeoutError)


@dataclass(frozen=True)
class Ended:
    """An ended task: with a result, or lost with its worker or with the scheduler."""

    task: Task
    result: Result | None
    lost_worker: bool = False
    error: str = ""  # of the engine, such as a worker without this package


def on_worker(task: Task) -> Result:
    """Run a task on a worker."""
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
        """Submit a task; prefer workers that are not in `avoided`."""
        good = sorted(set(self._threads) - avoided)
        restriction = (
            {"workers": good, "allow_other_workers": True} if good and len(good) < len(self._threads) else {}
        )
        future = self._client.submit(
            on_worker, task, key=f"{task.name!a}-{task.attempt}", pure=False, **restriction
        )
        self._running[future] = task
        future.add_done_callback(lambda _: self.changed.set())

    def ended(self) -> list[Ended]:
        """Return the tasks that ended since the last call, in any order."""
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
        """Return the tasks that were submitted and have not ended."""
        return list(self._running.values())

    def cancel(self, task: Task) -> None:
        """Cancel a task that has not ended. A task that a worker has started runs to its end."""
        for future, one in list(self._running.items()):
            if one is task and future.status == "pending":
                del self._running[future]
                if self.is_connected():
                    future.cancel()

    def look_at_workers(self) -> dict[str, int]:
        """Return address -> threads of the present workers, empty while the scheduler is away."""
        self._threads = {}
        if self.is_connected():
            with contextlib.suppress(*AWAY):
                self._threads = dict(self._client.nthreads())
        return self._threads

    def retire(self, worker: str) -> None:
        """End a worker; on this machine it gets no successor."""
        with contextlib.suppress(*AWAY):
            self._client.retire_workers([worker])

    def refill(self, retired: int) -> None:
        """Replace lost workers, if the campaign owns them. retired: number of retired workers."""
        now = time.monotonic()
        if self._supply and now - self._last_refill >= REFILL:
            self._last_refill = now
            self._supply.refill(retired)

    def is_connected(self) -> bool:
        """Tell whether the scheduler answers."""
        return self._client.status == "running"

    def is_closed(self) -> bool:
        """Tell whether the client stopped waiting for the scheduler."""
        return self._client.status in ("closing", "closed")

    def require_package(self) -> None:
        """Raise CampaignError if a worker cannot import this package, or has names of files in another encoding."""
        try:
            replies = self._client.run(encoding_of_names, on_error="return")
        except AWAY as error:
            raise CampaignError("the workers do not answer", seen=str(error)) from None
        bad = {worker: reply for worker, reply in replies.items() if isinstance(reply, BaseException)}
        if bad:
            raise CampaignError(
                "workers cannot run tasks of this campaign",
                ", ".join(sorted(bad)),
                "; ".join(sorted({f"{type(reply).__name__}: {reply}" for reply in bad.values()})),
                "the Python environment of this command on every worker",
                "start the workers with the same Python, for example by its path on a shared file system",
            )
        if others := {worker: reply for worker, reply in replies.items() if reply != "utf-8"}:
            raise CampaignError(
                "workers have names of files in another encoding",
                ", ".join(sorted(others)),
                ", ".join(sorted(set(map(str, others.values())))),
                "utf-8",
                "start the workers with PYTHONUTF8=1",
            )


def encoding_of_names() -> str:
    """Return the encoding. To find this function, a worker imports the package and everything that a task needs."""
    return sys.getfilesystemencoding()
