# SPDX-License-Identifier: Apache-2.0
"""Decisions of the dispatcher, with a scripted engine."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Callable
from pathlib import Path

import fake_wire_cell
import pytest
from campaign_support import Bench
from test_publish import task_of
from wirecell_campaign import attempt
from wirecell_campaign.dispatch import Dispatcher
from wirecell_campaign.engine import Ended
from wirecell_campaign.errors import CampaignError
from wirecell_campaign.layout import Layout
from wirecell_campaign.progress import Progress
from wirecell_campaign.task import Fault, Outcome, Result, Task

Answer = Callable[[Task], Ended]


class ScriptedEngine:
    """An engine that answers at once: for each file by the next answer of its script, then by a real attempt."""

    def __init__(self, scripts: dict[str, list[Answer]], workers: tuple[str, ...] = ("w1", "w2")) -> None:
        self.scripts, self.workers = scripts, dict.fromkeys(workers, 1)
        self.replaces = False
        self.changed = threading.Event()
        self.submitted: list[tuple[str, int, set[str]]] = []
        self.retired: list[str] = []
        self.max_at_once = 0
        self._ended: list[Ended] = []
        self._running: list[Task] = []

    def submit(self, task: Task, avoided: set[str]) -> None:
        self.submitted.append((task.name, task.attempt_index, set(avoided)))
        self._running.append(task)
        self.max_at_once = max(self.max_at_once, len(self._running))
        script = self.scripts.get(task.name, [])
        self._ended.append(script.pop(0)(task) if script else Ended(task, attempt.run_attempt(task, "w1")))
        self.changed.set()

    def ended(self) -> list[Ended]:
        found, self._ended, self._running = self._ended, [], []
        return found

    def running(self) -> list[Task]:
        return list(self._running)

    def cancel(self, task: Task) -> None:
        self._running.remove(task)
        self._ended = [one for one in self._ended if one.task is not task]

    def look_at_workers(self) -> dict[str, int]:
        return dict(self.workers)

    def retire(self, worker: str) -> None:
        self.retired.append(worker)

    def refill(self, retired: int) -> None:
        if self.replaces:
            self.workers.update({f"w{3 + index}": 1 for index in range(retired)})

    def is_connected(self) -> bool:
        return True

    def is_closed(self) -> bool:
        return False


def failed(fault: Fault, worker: str = "w1") -> Answer:
    """Return the answer of a failed attempt."""
    return lambda task: Ended(task, Result(Outcome.FAILED, "host", worker, 0.1, fault, "error: told to fail"))


def lost_scheduler(task: Task) -> Ended:
    """Return the answer after the loss of the scheduler."""
    return Ended(task, None)


def lost_worker(task: Task) -> Ended:
    """Return the answer after a kill of the worker."""
    return Ended(task, None, lost_worker=True)


@pytest.fixture
def dispatcher(bench: Bench) -> Callable[..., Dispatcher]:
    """A function that makes a dispatcher for an engine, with the settings of task_of()."""
    Layout(bench.output).make()

    def make(
        engine: ScriptedEngine,
        retries: int = 3,
        stop: bool = False,
        interrupts: Callable[[], int] = lambda: 0,
    ) -> Dispatcher:
        def prepare(name: str, identity: str, index: int) -> Task:
            return Task(**(vars(task_of(bench, name, identity)) | {"attempt_index": index}))

        return Dispatcher(
            Layout(bench.output),
            engine,
            prepare,
            "s",
            retries,
            stop,
            5.0,
            Progress(1, 0, io.StringIO()),
            interrupts,
            lambda name: (bench.inputs / name).exists(),
        )

    return make


def test_a_lost_scheduler_is_no_failure_of_a_file(bench: Bench, dispatcher) -> None:
    """Also if it happens often."""
    names = bench.make(2)
    engine = ScriptedEngine({"f000.npz": [lost_scheduler] * 20})
    outcomes = dispatcher(engine, retries=0).run(names, {})
    assert sorted(outcomes.done) == names and not outcomes.failed


def test_lost_workers_are_counted(bench: Bench, dispatcher) -> None:
    names = bench.make(2)
    outcomes = dispatcher(ScriptedEngine({"f000.npz": [lost_worker] * 9})).run(names, {})
    assert sorted(outcomes.done) == names
    bench.make(2)
    (bench.inputs / "f002.npz").write_text("")
    outcomes = dispatcher(ScriptedEngine({"f002.npz": [lost_worker] * 10})).run(["f002.npz"], {})
    assert list(outcomes.failed) == ["f002.npz"]
    assert (
        "10 workers ended while they processed this file"
        in json.loads(Layout(bench.output).failure("f002.npz").read_text())["block"]
    )


def test_another_attempt_avoids_the_worker(bench: Bench, dispatcher) -> None:
    names = bench.make(1)
    engine = ScriptedEngine({names[0]: [failed(Fault.FILE, "w2"), failed(Fault.WORKER, "w1")]})
    dispatcher(engine).run(names, {})
    assert engine.submitted == [(names[0], 1, set()), (names[0], 2, {"w2"}), (names[0], 3, {"w1", "w2"})]


def test_a_faulty_worker_is_retired_and_avoided_by_all(bench: Bench, dispatcher) -> None:
    names = bench.make(6)
    engine = ScriptedEngine({name: [failed(Fault.WORKER, "w2")] for name in names[:2]})
    outcomes = dispatcher(engine).run(names, {})
    assert sorted(outcomes.done) == names and engine.retired == ["w2"]
    assert all("w2" in avoided for _, _, avoided in engine.submitted[4:])


def test_the_last_worker_is_not_retired_but_ends_the_run(bench: Bench, dispatcher) -> None:
    names = bench.make(9)
    engine = ScriptedEngine({name: [failed(Fault.WORKER, "w1")] * 9 for name in names}, workers=("w1",))
    outcomes = dispatcher(engine).run(names, {})
    assert (
        not engine.retired
        and "no working worker is left" in outcomes.stopped_by
        and "told to fail" in outcomes.stopped_by
    )
    assert not outcomes.failed, "it was no fault of the files"


def test_replacements_that_are_no_better_end_the_run(
    bench: Bench, dispatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a farm whose machines all lack something, not every file fails five times."""
    monkeypatch.setattr("wirecell_campaign.dispatch.LOOK", 0.0)
    names = bench.make(30)
    workers = [f"w{index}" for index in range(1, 30)]

    def failing(task: Task) -> Ended:
        bad = next(worker for worker in workers if worker not in engine.retired)
        return failed(Fault.WORKER, bad)(task)

    engine = ScriptedEngine({name: [failing] * 9 for name in names})
    engine.replaces = True
    outcomes = dispatcher(engine).run(names, {})
    assert "no working worker is left" in outcomes.stopped_by and not outcomes.failed
    assert len(engine.retired) <= 2


def test_an_input_that_vanished_is_no_fault_of_workers(bench: Bench, dispatcher) -> None:
    names = bench.make(4)
    for name in names[:3]:
        (bench.inputs / name).unlink()
    engine = ScriptedEngine({name: [failed(Fault.WORKER, "w1")] for name in names[:3]})
    outcomes = dispatcher(engine).run(names, {})
    assert sorted(outcomes.failed) == names[:3] and not engine.retired
    assert len(engine.submitted) == 4


def test_few_tasks_wait_at_the_engine(bench: Bench, dispatcher) -> None:
    """A queued task cannot avoid a faulty worker."""
    engine = ScriptedEngine({})
    dispatcher(engine).run(bench.make(12), {})
    assert engine.max_at_once == 4


def test_a_forgotten_attempt_with_other_settings_does_not_count(bench: Bench, dispatcher) -> None:
    """It published during this run; its output is replaced."""
    names = bench.make(1)

    def overtaken(task: Task) -> Ended:
        assert (
            attempt.run_attempt(Task(**(vars(task) | {"settings": "old", "attempt": "zombie"}))).outcome
            is Outcome.PUBLISHED
        )
        return Ended(task, attempt.run_attempt(task, "w1"))

    engine = ScriptedEngine({names[0]: [overtaken]})
    outcomes = dispatcher(engine).run(names, {})
    assert outcomes.done[names[0]]["settings"] == "s"
    assert [index for _, index, _ in engine.submitted] == [1, 2]
    assert (bench.output / names[0]).read_bytes() == fake_wire_cell.output_of(
        (bench.inputs / names[0]).read_bytes()
    )


def test_a_success_without_anything_to_show_is_not_believed(
    bench: Bench, dispatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wirecell_campaign.dispatch.VISIBLE_AFTER", 0.3)
    names = bench.make(1)
    engine = ScriptedEngine(
        {names[0]: [lambda task: Ended(task, Result(Outcome.PUBLISHED, "host", "w1", 0.1))]}
    )
    outcomes = dispatcher(engine).run(names, {})
    assert len(engine.submitted) == 2 and outcomes.done[names[0]]["number"] == 2


def test_an_error_of_the_engine_is_tried_elsewhere_and_then_told(bench: Bench, dispatcher) -> None:
    names = bench.make(1)
    broken = [lambda task: Ended(task, None, error="ModuleNotFoundError: no module")] * 5
    outcomes = dispatcher(ScriptedEngine({names[0]: broken})).run(names, {})
    assert list(outcomes.failed) == names
    assert "ModuleNotFoundError" in json.loads(Layout(bench.output).failure(names[0]).read_text())["block"]


def test_an_interrupt_starts_nothing_more(bench: Bench, dispatcher) -> None:
    level = [0]

    def interrupting(task: Task) -> Ended:
        level[0] = 1
        return Ended(task, attempt.run_attempt(task, "w1"))

    names = bench.make(12)
    outcomes = dispatcher(ScriptedEngine({names[0]: [interrupting]}), interrupts=lambda: level[0]).run(
        names, {}
    )
    assert outcomes.stopped_by == "stopped" and 1 <= len(outcomes.done) <= 4


class OneByOne(ScriptedEngine):
    """An engine that tells of the end of one task at a time."""

    def ended(self) -> list[Ended]:
        found = self._ended.pop(0)
        self._running.remove(found.task)
        return [found]


def test_files_that_end_while_the_run_is_stopped_count(bench: Bench, dispatcher) -> None:
    """The first of four tasks fails; the others have ended, but the engine has not told of it."""
    names = bench.make(4)
    engine = OneByOne({names[0]: [failed(Fault.FINAL)]})
    outcomes = dispatcher(engine, stop=True).run(names, {})
    assert outcomes.stopped_by and list(outcomes.failed) == names[:1]
    assert sorted(outcomes.done) == names[1:]
    assert not list(Layout(bench.output).scratch.iterdir())


def test_no_workers_for_too_long(bench: Bench, dispatcher) -> None:
    made = dispatcher(ScriptedEngine({}, workers=()))
    made._worker_timeout = 0.5
    with pytest.raises(CampaignError, match="no worker for 0.5 s"):
        made.run(bench.make(1), {})
    assert Path(bench.output).is_dir()
