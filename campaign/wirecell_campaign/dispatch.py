"""The run itself: hands files to the engine, takes results, tries again, and knows when to give up."""

from __future__ import annotations

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

WAKE = 0.25  # s between two looks when nothing happens
LOOK = 1.0  # s between two questions for the workers
AHEAD = 2  # tasks that wait at the engine beyond one for each worker


@dataclass
class Outcomes:
    """What a run came to."""

    done: dict[str, dict] = field(default_factory=dict)  # output name -> record
    failed: dict[str, History] = field(default_factory=dict)
    stopped_by: str = ""  # why files were not tried; empty: all were


class Dispatcher:
    """Works off the tasks. `prepare(name, attempt, number)` makes the task of an attempt; `interrupts()` is 0, 1 (start nothing
    more) or more (stop now)."""

    def __init__(
        self,
        layout: Layout,
        engine: Engine,
        prepare: Callable[[str, str, int], Task],
        settings: str,
        retries: int,
        stop_at_failure: bool,
        patience: float | None,
        progress: Progress,
        interrupts: Callable[[], int],
        readable: Callable[[str], bool],
    ) -> None:
        self._layout, self._engine, self._prepare, self._settings = layout, engine, prepare, settings
        self._retries, self._stop_at_failure, self._patience = retries, stop_at_failure, patience
        self._progress, self._interrupts, self._readable = progress, interrupts, readable
        self._watch = WorkerWatch()
        self._retired: set[str] = set()
        self._retired_in_vain = 0  # since a file was last done
        self._most_workers = 0
        self._histories: dict[str, History] = {}
        self._waiting: deque[str] = deque()
        self._workers: dict[str, int] = {}
        self._last_look = -LOOK
        self._last_worker = time.monotonic()
        self.outcomes = Outcomes()

    def run(self, names: list[str], done: dict[str, dict]) -> Outcomes:
        """All files of `names`; `done` are those of earlier runs, by their records. CampaignError when the scheduler stays away."""
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
        self._progress.clear()
        return self.outcomes

    def _show(self) -> None:
        running = min(len(self._engine.running()), sum(self._workers.values()))
        self._progress.show(len(self.outcomes.done), len(self.outcomes.failed), running, len(self._workers))

    def _look(self) -> None:
        """Know the workers; give up when there is none for too long, or no scheduler."""
        now = time.monotonic()
        if now - self._last_look < LOOK:
            return
        self._last_look = now
        if self._engine.is_closed():
            raise CampaignError(
                "the scheduler is gone and did not come back",
                hint="the same command goes on once there is a scheduler",
            )
        self._workers = {
            worker: n for worker, n in self._engine.look_at_workers().items() if worker not in self._retired
        }
        self._most_workers = max(self._most_workers, len(self._workers))
        self._engine.refill(len(self._retired))
        if self._workers or not self._engine.is_connected():  # the wait for a scheduler has its own end
            self._last_worker = now
        elif self._patience is not None and now - self._last_worker > self._patience:
            raise CampaignError(
                f"no worker for {self._patience:g} s",
                expected="workers at the scheduler",
                hint="start workers and run the same command again; --patience S waits longer",
            )

    def _submit(self) -> None:
        """Keep a task for each worker and a few more at the engine: what is there already cannot avoid a bad worker."""
        if not self._workers or self.outcomes.stopped_by:
            return
        most = sum(self._workers.values()) + AHEAD
        while self._waiting and len(self._engine.running()) < most:
            name = self._waiting.popleft()
            history = self._histories[name]
            history.attempts += 1
            task = self._prepare(name, f"{history.attempts}-{secrets.token_hex(4)}", history.attempts)
            self._engine.submit(task, history.avoided | self._retired)

    def _take(self, ended: Ended) -> None:
        """A task ended: note it, try again, or give the file up."""
        name = ended.task.name
        if ended.result is None:
            self._take_loss(ended)
        elif ended.result.outcome is Outcome.FAILED:
            self._take_failure(name, ended.result)
        else:
            self._watch.note(ended.result.worker, name, None)
            self._take_publication(name)

    def _take_publication(self, name: str) -> None:
        """An attempt says that there is a record, its own or that of another attempt; trust only what lies in the folder."""
        path = self._layout.record(name)
        deadline = time.monotonic() + VISIBLE_AFTER
        found = record.read(path)
        while found is None and time.monotonic() < deadline:
            time.sleep(WAKE)
            found = record.read(path)
        whole = (
            found is not None
            and settle(self._layout, found)
            and not record.wrong_products(self._layout, found, quick=True)
        )
        if whole and found["settings"] == self._settings:
            self._retired_in_vain = 0
            self.outcomes.done[name] = found
            self._layout.failure(name).unlink(missing_ok=True)
            return
        # Published by a forgotten attempt of an earlier run, with other settings or without its products.
        if found is not None:
            for product in found["products"]:
                (self._layout.root / product["path"]).unlink(missing_ok=True)
            path.unlink(missing_ok=True)
        self._again(name, self._histories[name].is_loss_tried_again())

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
            self._again(ended.task.name, history.is_tried_again(result, self._retries))
        elif ended.lost_worker:
            self._again(ended.task.name, history.is_loss_tried_again())
        else:  # with the scheduler, which is nothing of the file
            self._again(ended.task.name, True)

    def _take_failure(self, name: str, result: Result) -> None:
        if result.fault is Fault.WORKER and not self._readable(name):
            result = Result(
                result.outcome, result.host, result.worker, result.seconds, Fault.FINAL, result.block
            )
        again = self._histories[name].is_tried_again(result, self._retries)
        if self._watch.note(result.worker, name, result.fault):
            self._retire(result)
        self._again(name, again)

    def _retire(self, result: Result) -> None:
        """Take a worker out that fails every file. When it is the last one, or all that were there went this way and nothing was done
        meanwhile, the campaign cannot go on."""
        self._retired.add(result.worker)
        self._retired_in_vain += 1
        self._workers.pop(result.worker, None)
        if not self._workers or self._retired_in_vain >= max(2, self._most_workers):
            self._stop(f"no worker is left that can work; the last one said:\n{result.block}")
            return
        self._progress.say(
            f"worker {result.worker} on {result.host} gets no more files, for it failed several:\n{result.block}"
        )
        self._engine.retire(result.worker)

    def _again(self, name: str, again: bool) -> None:
        if again:
            self._waiting.append(name)
            return
        history = self._histories[name]
        self.outcomes.failed[name] = history
        write_json(self._layout.failure(name), described(name, history))
        if self._stop_at_failure:
            self._stop("a file failed (--on-error stop)")

    def _stop(self, why: str) -> None:
        """Start nothing more, and take back what no worker has begun."""
        if self.outcomes.stopped_by:
            return
        self.outcomes.stopped_by = why
        begun = [path.name for path in self._layout.scratch.iterdir()]
        for task in self._engine.running():
            if not any(name.startswith(f"{task.scratch}.") for name in begun):
                self._engine.cancel(task)


def described(name: str, history: History) -> dict:
    """A failure as it is kept in the folder: why, and every attempt."""
    last = history.failures[-1].block if history.failures else ""
    if history.losses and not last:
        last = str(
            CampaignError(
                "the worker was lost each time",
                seen=f"{history.losses} workers ended while they worked on this file",
                hint="look at the file, and at the memory that workers have",
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
                "fault": one.fault.value,
                "seconds": round(one.seconds, 3),
                "block": one.block,
            }
            for one in history.failures
        ],
    }
