# SPDX-License-Identifier: Apache-2.0
"""The dispatcher: submit files to the engine, collect results, retry, and decide when to stop."""

from __future__ import annotations

import contextlib
import secrets
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from . import record
from .engine import Ended, Engine
from .errors import CampaignError
from .layout import Layout, write_json
from .progress import Progress
from .publish import VISIBLE_AFTER, settle
from .retries import History, WorkerWatch
from .task import Fault, Outcome, Result, Task

WAKE = 0.25  # s between two checks without an event
LOOK = 1.0  # s between two queries of the workers
AHEAD = 2  # tasks queued at the engine in addition to one for each worker


@dataclass
class Outcomes:
    """Result of a run."""

    done: dict[str, dict] = field(default_factory=dict)  # output name -> record
    failed: dict[str, History] = field(default_factory=dict)
    stopped_by: str = ""  # reason why some files were not tried; empty if all were


class Dispatcher:
    """Runs the tasks.

    prepare(name, attempt, index)  makes the task of an attempt
    interrupts()                   returns 0, 1 (start nothing more) or more (stop now)
    worker_timeout                 [s] without any worker after which the run fails; None: without limit
    """

    def __init__(
        self,
        layout: Layout,
        engine: Engine,
        prepare: Callable[[str, str, int], Task],
        settings: str,
        retries: int,
        stop_at_failure: bool,
        worker_timeout: float | None,
        progress: Progress,
        interrupts: Callable[[], int],
        readable: Callable[[str], bool],
    ) -> None:
        self._layout, self._engine, self._prepare, self._settings = layout, engine, prepare, settings
        self._retries, self._stop_at_failure, self._worker_timeout = retries, stop_at_failure, worker_timeout
        self._progress, self._interrupts, self._readable = progress, interrupts, readable
        self._watch = WorkerWatch()
        self._retired: set[str] = set()
        self._retired_since_done = 0  # workers retired since a file was last done
        self._max_workers = 0
        self._histories: dict[str, History] = {}
        self._waiting: deque[str] = deque()
        self._marked: list[Task] = []  # tasks that were at the engine when the run was stopped
        self._workers: dict[str, int] = {}
        self._last_look = -LOOK
        self._last_worker = time.monotonic()
        self.outcomes = Outcomes()

    def run(self, names: list[str], done: dict[str, dict]) -> Outcomes:
        """Process the files `names`; `done` are the records of earlier runs. Raise CampaignError if the scheduler is lost."""
        self._waiting.extend(names)
        self._histories = {name: History() for name in names}
        self.outcomes.done.update(done)
        while (self._waiting and not self.outcomes.stopped_by) or self._engine.running():
            interrupted = self._interrupts()
            if interrupted:
                self._stop("stopped")
            if interrupted > 1:
                break
            self._look()
            self._submit()
            self._engine.changed.wait(WAKE)
            self._engine.changed.clear()
            for ended in self._engine.ended():
                self._take(ended)
            self._show()
        self._take_marked()
        self._progress.clear()
        return self.outcomes

    def _show(self) -> None:
        running = min(len(self._engine.running()), sum(self._workers.values()))
        self._progress.show(len(self.outcomes.done), len(self.outcomes.failed), running, len(self._workers))

    def _look(self) -> None:
        """Query the workers. Raise CampaignError without any worker for too long, or without scheduler."""
        now = time.monotonic()
        if now - self._last_look < LOOK:
            return
        self._last_look = now
        if self._engine.is_closed():
            raise CampaignError(
                "the scheduler is lost and did not come back",
                hint="start a scheduler and run the same command again",
            )
        self._workers = {
            worker: n for worker, n in self._engine.look_at_workers().items() if worker not in self._retired
        }
        self._max_workers = max(self._max_workers, len(self._workers))
        self._engine.refill(len(self._retired))
        if self._workers or not self._engine.is_connected():  # the wait for a scheduler has its own timeout
            self._last_worker = now
        elif self._worker_timeout is not None and now - self._last_worker > self._worker_timeout:
            raise CampaignError(
                f"no worker for {self._worker_timeout:g} s",
                expected="workers at the scheduler",
                hint="start workers and run the same command again; --cluster-timeout S waits longer",
            )

    def _submit(self) -> None:
        """Keep a task for each worker and a few more at the engine. Not more: a submitted task cannot avoid a faulty worker."""
        if not self._workers or self.outcomes.stopped_by:
            return
        max_running = sum(self._workers.values()) + AHEAD
        while self._waiting and len(self._engine.running()) < max_running:
            name = self._waiting.popleft()
            history = self._histories[name]
            history.attempts += 1
            task = self._prepare(name, f"{history.attempts}-{secrets.token_hex(4)}", history.attempts)
            self._engine.submit(task, history.avoided | self._retired)

    def _take(self, ended: Ended) -> None:
        """Handle the end of a task: note the result, retry, or give the file up."""
        name = ended.task.name
        if ended.result is None:
            self._take_loss(ended)
        elif ended.result.outcome is Outcome.FAILED:
            self._take_failure(name, ended.result)
        elif ended.result.outcome is not Outcome.CANCELLED:
            self._watch.note(ended.result.worker, name, None)
            self._take_publication(name)

    def _take_publication(self, name: str) -> None:
        """Check the record that an attempt reports, its own or another attempt's, against the files in the folder."""
        path = self._layout.record(name)
        deadline = time.monotonic() + VISIBLE_AFTER
        found = record.read(path)
        while found is None and time.monotonic() < deadline:
            time.sleep(WAKE)
            found = record.read(path)
        if (
            found is not None
            and settle(self._layout, found)
            and not record.wrong_products(self._layout, found, quick=True)
            and found["settings"] == self._settings
        ):
            self._retired_since_done = 0
            self.outcomes.done[name] = found
            self._layout.failure(name).unlink(missing_ok=True)
            return
        # An attempt of an earlier run published it, with other settings or without its products.
        if found is not None:
            for product in found["products"]:
                (self._layout.root / product["path"]).unlink(missing_ok=True)
            path.unlink(missing_ok=True)
        self._retry(name, self._histories[name].is_loss_retried())

    def _take_loss(self, ended: Ended) -> None:
        history = self._histories[ended.task.name]
        if ended.error:
            result = Result(
                Outcome.FAILED,
                "",
                "",
                0.0,
                Fault.WORKER,
                str(CampaignError("the engine failed", seen=ended.error)),
            )
            self._retry(ended.task.name, history.is_retried(result, self._retries))
        elif ended.lost_worker:
            self._retry(ended.task.name, history.is_loss_retried())
        else:  # lost with the scheduler, not the file's fault
            self._retry(ended.task.name, True)

    def _take_failure(self, name: str, result: Result) -> None:
        if result.fault is Fault.WORKER and not self._readable(name):
            result = Result(
                result.outcome, result.host, result.worker, result.seconds, Fault.FINAL, result.block
            )
        is_retried = self._histories[name].is_retried(result, self._retries)
        if self._watch.note(result.worker, name, result.fault):
            self._retire(result)
        self._retry(name, is_retried)

    def _retire(self, result: Result) -> None:
        """Retire a worker that fails every file. Stop the campaign if it was the last worker, or if as many workers as there
        ever were had to be retired without any file done.
        """
        self._retired.add(result.worker)
        self._retired_since_done += 1
        self._workers.pop(result.worker, None)
        if not self._workers or self._retired_since_done >= max(2, self._max_workers):
            self._stop(f"no working worker is left; error of the last one:\n{result.block}")
            return
        self._progress.say(
            f"worker {result.worker} on {result.host} gets no more files because it failed several:\n{result.block}"
        )
        self._engine.retire(result.worker)

    def _retry(self, name: str, is_retried: bool) -> None:
        """Queue a file again, or give it up."""
        if is_retried:
            self._waiting.append(name)
            return
        history = self._histories[name]
        self.outcomes.failed[name] = history
        write_json(self._layout.failure(name), described(name, history))
        if self._stop_at_failure:
            self._stop("a file failed (--on-error stop)")

    def _stop(self, why: str) -> None:
        """Start nothing more, and cancel tasks that no worker has begun."""
        if self.outcomes.stopped_by:
            return
        self.outcomes.stopped_by = why
        self._marked = self._engine.running()
        for task in self._marked:
            with contextlib.suppress(OSError):  # a full disk
                self._layout.stop(task.scratch).touch()
        begun = [path.name for path in self._layout.scratch.iterdir()]
        for task in self._marked:
            if not any(name.startswith(f"{task.scratch}.") for name in begun):
                self._engine.cancel(task)

    def _take_marked(self) -> None:
        """Remove the marks, and take the files that were published while the run was stopped."""
        for task in self._marked:
            self._layout.stop(task.scratch).unlink(missing_ok=True)
            if task.name not in self.outcomes.done and record.read(self._layout.record(task.name)):
                self._take_publication(task.name)


def described(name: str, history: History) -> dict:
    """Return the content of a failure's file: the last error and every attempt."""
    last = history.failures[-1].block if history.failures else ""
    if history.losses and not last:
        last = str(
            CampaignError(
                "the worker was lost at each attempt",
                seen=f"{history.losses} workers ended while they processed this file",
                hint="check the file, and the memory of the workers",
            )
        )
    return {
        "name": name,
        "block": last,
        "attempts": history.attempts,
        "losses": history.losses,
        "failures": [
            {
                "host": one.host,
                "worker": one.worker,
                "fault": one.fault.value if one.fault else "",
                "seconds": round(one.seconds, 3),
                "block": one.block,
            }
            for one in history.failures
        ],
    }
