# SPDX-License-Identifier: Apache-2.0
"""Write a big synthetic profile: nested ranges, API calls and kernels of several threads and devices.

    python profiling/tests/big_profile.py /tmp/big.sqlite --ranges 5000000

Each step of a thread has 50 ranges in four levels, 28 API calls and 15 kernels, so 5 million ranges come with
2.8 million calls and 1.5 million kernels. The same count always gives the same file.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from synthetic import PUSH_POP, Synthetic  # noqa: E402  after the path

RANGES, CALLS, KERNELS = 50, 28, 15  # per step
STEP = 200_000  # ns per step of a thread
THREADS, DEVICES = 4, 2
LAYERS, NAMES = 40, 25
STEPS_PER_EVENT = 100
BATCH = 2_000  # steps per transaction of rows


def step_ranges(step: int, at: int, jitter: list[int]) -> Iterator[tuple]:
    """Yield (name, start, end, event) of a step: an event's node, 4 layers in it, 9 operators in each, one
    kernel wrapper in 9 of the operators."""
    event = step // STEPS_PER_EVENT
    yield f"Node:layer{step % LAYERS}", at, at + STEP - 1000, event
    operator = 0
    for layer in range(4):
        begin = at + 1000 + layer * 48_000
        yield f"block {(step + layer) % LAYERS}", begin, begin + 47_000, None
        for index in range(9):
            start = begin + 500 + index * 5_000
            end = start + 2_500 + jitter[operator]
            yield f"aten::operator{(step * 7 + operator) % NAMES}", start, end, None
            if operator < 9:
                yield "launch", start + 300, end - 300, None
            operator += 1


def step_calls(at: int, jitter: list[int]) -> Iterator[tuple[str, int, int]]:
    """Yield (name, start, end) of a step's API calls: the first KERNELS launch."""
    for index in range(CALLS):
        start = at + 1000 + (index // 9) * 48_000 + 500 + (index % 9) * 5_000 + 800
        name = "cudaLaunchKernel_v7000" if index < KERNELS else "cudaEventRecord_v3020"
        yield name, start, start + 900 + jitter[index] // 2


def write_profile(path: Path, ranges: int) -> None:
    """Write a profile with about this count of ranges."""
    steps = max(1, ranges // RANGES)
    chance = np.random.default_rng(1)
    with Synthetic(path) as file:
        for device in range(DEVICES):
            file.device(device, "Synthetic GPU")
        file.domain("spng", 1)
        kernels = [
            (file.string(f"void kernel<float, {index}>(Parameters<{index}>)"), file.string(f"kernel{index}"))
            for index in range(NAMES)
        ]
        for first in range(0, steps, BATCH):
            marks, calls, launched = [], [], []
            for step in range(first, min(first + BATCH, steps)):
                thread, turn = step % THREADS, step // THREADS
                at, jitter = turn * STEP, chance.integers(0, 2_000, 36).tolist()
                owner, queue = file.thread(1 + thread), turn * STEP
                for name, start, end, event in step_ranges(turn, at, jitter):
                    marks.append((start, end, PUSH_POP, name, owner, 1 if event is not None else 0, event))
                for index, (name, start, end) in enumerate(step_calls(at, jitter)):
                    identifier = step * CALLS + index + 1
                    calls.append((start, end, 0, owner, identifier, file.string(name), 0))
                    if index >= KERNELS:
                        continue
                    queue = max(queue, start + 2_000)
                    full, short = kernels[(step + index) % NAMES]
                    end = queue + 3_000 + jitter[index]
                    queue_ids = (thread % DEVICES, 1, 7 + thread // DEVICES)
                    launched.append((queue, end, *queue_ids, identifier, file.thread(0), full, short))
                    queue = end
            columns = "start end eventType text globalTid domainId uint64Value"
            file.rows("NVTX_EVENTS", columns, marks)
            columns = "start end eventClass globalTid correlationId nameId returnValue"
            file.rows("CUPTI_ACTIVITY_KIND_RUNTIME", columns, calls)
            columns = "start end deviceId contextId streamId correlationId globalPid demangledName shortName"
            file.rows("CUPTI_ACTIVITY_KIND_KERNEL", columns, launched)


def main() -> None:
    """Write a profile from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--ranges", type=int, default=5_000_000)
    arguments = parser.parse_args()
    write_profile(arguments.file, arguments.ranges)


if __name__ == "__main__":
    main()
