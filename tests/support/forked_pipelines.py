# SPDX-License-Identifier: Apache-2.0
"""Children of fork of a process with a pipeline: run with `python -m`, it prints how each of them ended, as JSON."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

import spng

SECONDS = 60  # after which a child hangs
ADC = np.full((2560, 6000), 900, np.int16)
OPTIONS = {"model": "none", "device": "cpu"}
FORK = multiprocessing.get_context("fork")

logging.getLogger("spng").addHandler(logging.NullHandler())  # warnings about ADC do not matter
pipeline = spng.Pipeline(**OPTIONS)
simulation = spng.Simulation(noise=False)
pending: list[spng.PendingFrame] = []


def call(_: object = None) -> str:
    """Call the pipeline of the parent."""
    return said(lambda: pipeline(ADC))


def said(use: Callable[[], Any]) -> str:
    """Return the first line of the error of a call."""
    try:
        use()
    except spng.Error as error:
        return error.what
    return "no error"


def uses() -> list[str]:
    """Return what every use of the parent's objects says."""
    found = {
        "call": lambda: pipeline(ADC),
        "submit": lambda: pipeline.submit(ADC),
        "map": lambda: next(pipeline.map([ADC])),
        "result": lambda: pending[0].result(),
        "wait": lambda: pending[0].wait(),
        "done": lambda: pending[0].done(),
        "await": lambda: asyncio.run(awaited()),
        "close": pipeline.close,
        "is_closed": lambda: pipeline.is_closed,
        "planes": lambda: pipeline.planes,
        "devices": lambda: pipeline.devices,
        "timing": pipeline.timing,
        "timing_table": pipeline.timing_table,
        "simulation": lambda: simulation(np.empty((7, 0))),
    }
    return [name for name, use in found.items() if "was made in another process" not in said(use)]


async def awaited() -> spng.Frame:
    """Wait for an event of the parent."""
    return await pending[0]


def child(work: Callable[[], None]) -> tuple[int, str]:
    """Fork; return the exit status of the child and what it wrote, or -1 if it hangs. Its end is as `work` leaves it."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(writer, 1)
        os.dup2(writer, 2)
        work()
        sys.exit(0)  # with the handlers of atexit and all destructors
    os.close(writer)
    end = time.monotonic() + SECONDS
    done = (0, 0)
    while done[0] == 0 and time.monotonic() < end:
        done = os.waitpid(pid, os.WNOHANG)
        time.sleep(0.01)
    if done[0] == 0:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
        return -1, ""
    with os.fdopen(reader) as text:
        return os.waitstatus_to_exitcode(done[1]), text.read()


def collected() -> None:
    """Let the garbage collector take the objects of the parent."""
    global pipeline, simulation
    del pipeline, simulation
    pending.clear()
    gc.collect()


def own() -> None:
    """Use a new pipeline."""
    with spng.Pipeline(**OPTIONS) as mine:
        print(mine(ADC, ident=3).ident)


def own_tbb() -> None:
    """Make a pipeline whose engine has threads in the parent."""
    print(said(lambda: spng.Pipeline(**OPTIONS, engine="TbbFlow")))


def in_a_block() -> tuple[int, str]:
    """Fork inside of the `with` block of a pipeline, which the child leaves."""
    with spng.Pipeline(**OPTIONS, engine="TbbFlow"):
        return child(lambda: None)


def main() -> None:
    """Print the ends of the children; in a child this function returns."""
    pending.extend(pipeline.submit(ADC, ident=ident) for ident in range(3))
    found: dict[str, object] = {
        "uses": child(lambda: print(uses(), repr(pipeline), repr(pending[0]))),
        "ends": child(lambda: None),
        "sys.exit": child(lambda: sys.exit(3)),
        "os._exit": child(lambda: os._exit(4)),
        "closes": child(lambda: print(said(pipeline.close))),
        "collects": child(collected),
        "own": child(own),
        "block": in_a_block(),
        "own TbbFlow": child(own_tbb),
        "own beside TbbFlow": child(own),
    }
    with FORK.Pool(1) as pool:
        found["Pool"] = pool.map_async(call, [0]).get(SECONDS)
    process = FORK.Process(target=call)
    process.start()
    process.join(SECONDS)
    found["Process"] = process.exitcode
    with ProcessPoolExecutor(1, mp_context=FORK) as executor:
        found["ProcessPoolExecutor"] = executor.submit(call).result(SECONDS)
    found["parent"] = [each.result().ident for each in pending] + [pipeline(ADC, ident=9).ident]
    print(json.dumps(found))


if __name__ == "__main__":
    main()
