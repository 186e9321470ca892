# SPDX-License-Identifier: Apache-2.0
"""Calls that would wait for ever: in a child of fork, whose parent has the threads, and from code that the chain waits for."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import spng
from tests.support import wire_cell
from tests.support.wire_cell import needs_program

pytestmark = needs_program

DEAD = np.full((2560, 6000), 900, np.int16)  # every event of it gives a warning


def test_children_of_fork() -> None:
    """Children end as their code says; the parent's objects raise an error in them, and work in the parent."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.forked_pipelines"],
        cwd=wire_cell.ROOT,
        env={**os.environ, "PYTHONPATH": f"{wire_cell.ROOT / 'python'}:{wire_cell.ROOT / 'profiling'}"},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    status, text = found.pop("uses")
    assert status == 0 and text.startswith("[] "), f"these say nothing of another process: {text}"
    assert "of another process" in text
    message = "the pipeline was made in another process"
    assert found == {
        "ends": [0, ""],
        "sys.exit": [3, ""],
        "os._exit": [4, ""],
        "closes": [0, f"{message}\n"],
        "collects": [0, ""],
        "own": [0, "3\n"],
        "block": [0, ""],
        "own TbbFlow": [0, "the engine TbbFlow cannot run in a child of fork()\n"],
        "own beside TbbFlow": [0, "3\n"],
        "Pool": [message],
        "Process": 0,
        "ProcessPoolExecutor": message,
        "parent": [0, 1, 2, 9],
    }


@pytest.fixture(name="pipeline")
def fixture_pipeline() -> Iterator[spng.Pipeline]:
    with spng.Pipeline(model="none", device="cpu") as own:
        yield own


@pytest.fixture(name="in_handler")
def fixture_in_handler() -> Iterator[Callable[[Callable[[], Any]], None]]:
    """Return a function that lets a handler of log lines do something."""
    handlers = []
    logger = logging.getLogger("spng")

    def add(work: Callable[[], Any]) -> None:
        handler = logging.Handler()
        handler.emit = lambda record: work()  # type: ignore[method-assign]
        handlers.append(handler)
        logger.addHandler(handler)

    yield add
    for handler in handlers:
        logger.removeHandler(handler)


def within(seconds: float, work: Callable[[], Any]) -> Any:
    """Return the result of a function that may hang."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(work()), daemon=True)
    thread.start()
    thread.join(seconds)
    assert found, "it hangs"
    return found[0]


def test_a_log_handler_that_calls_a_pipeline(pipeline: spng.Pipeline, in_handler: Any) -> None:
    said: dict[str, str] = {}
    pending: list[spng.PendingFrame] = []
    uses: dict[str, Callable[[], Any]] = {
        "call": lambda: pipeline(DEAD),
        "submit": lambda: pipeline.submit(DEAD),
        "map": lambda: list(pipeline.map([DEAD])),
        "result": lambda: pending[0].result(),
        "close": lambda: pipeline.close(),
        "timing": lambda: pipeline.timing(),
        "another": lambda: spng.Pipeline(model="none", device="cpu"),
        "simulation": lambda: spng.Simulation(),
    }

    def emit() -> None:
        for name, use in uses.items():
            try:
                use()
            except spng.Error as error:
                said[name] = error.what
        assert pipeline.planes and not pipeline.is_closed

    in_handler(emit)
    pending.append(pipeline.submit(DEAD))
    assert within(60, lambda: pending[0].result()).ident == 0
    assert said.keys() == uses.keys()
    assert all(text.startswith("a callback waits for the ") for text in said.values())
    assert pipeline(DEAD, ident=5).ident == 5


def test_a_pipeline_that_ends_inside_of_a_log_handler(in_handler: Any) -> None:
    """The last reference goes on a thread of the pipeline, which cannot wait for itself."""
    own = [spng.Pipeline(model="none", device="cpu")]
    ended = threading.Event()

    def emit() -> None:
        own.clear()
        ended.set()

    in_handler(emit)
    pending = own[0].submit(DEAD)
    assert within(60, pending.result).ident == 0
    assert ended.is_set() and not own


def test_an_input_that_calls_the_pipeline_at_its_end(pipeline: spng.Pipeline) -> None:
    """Its memory is released on a thread of the pipeline."""
    said = []

    class Waveforms(np.ndarray):
        def __del__(self) -> None:
            try:
                pipeline(DEAD)
            except spng.Error as error:
                said.append(error.what)

    waveforms = np.ndarray.__new__(Waveforms, DEAD.shape, np.int16)
    waveforms[:] = DEAD
    pending = pipeline.submit(waveforms)
    del waveforms
    within(60, pending.result)
    within(60, lambda: pipeline(DEAD))
    assert said == ["a callback waits for the pipeline"]


def test_coroutines_await_results(pipeline: spng.Pipeline) -> None:
    async def two() -> list[spng.Frame]:
        return list(await asyncio.gather(*[pipeline.submit(DEAD, ident=ident) for ident in (4, 5)]))

    assert [frame.ident for frame in asyncio.run(two())] == [4, 5]


def test_state_of_a_pending_frame(pipeline: spng.Pipeline) -> None:
    good, bad = pipeline.submit(DEAD, ident=6), pipeline.submit(DEAD[:1], channels=[99999], ident=7)
    good.wait()
    assert good.done() and repr(good) == "<PendingFrame: event 6, done>"
    assert good.result() is good.result()
    for _ in range(2):  # the error is there for each caller
        with pytest.raises(spng.Error, match="channels that do not belong"):
            bad.result()
    assert bad.done() and repr(bad) == "<PendingFrame: event 7, failed>"
