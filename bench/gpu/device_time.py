# SPDX-License-Identifier: Apache-2.0
"""Time of work on a device, for the probes."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch

WARM_UP, REPEATS = 3, 20


def seconds_of_call(work: Callable[[], object]) -> float:
    """Return the mean time of a call, from REPEATS calls in a row after WARM_UP ones."""
    for _ in range(WARM_UP):
        work()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(REPEATS):
        work()
    torch.cuda.synchronize()
    return (time.perf_counter() - begin) / REPEATS
