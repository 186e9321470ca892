# SPDX-License-Identifier: Apache-2.0
"""Thread and process ids as nsys serialises them: hardware (8 bits), VM (8), process (24), thread (24)."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

THREAD_BITS = 24
MASK = (1 << THREAD_BITS) - 1
Ids = TypeVar("Ids", int, np.ndarray)


def process_of(global_id: Ids) -> Ids:
    """Return the process part, with hardware and VM bits, of a globalTid or globalPid (integer or array)."""
    return global_id >> THREAD_BITS


def pid_of(global_id: Ids) -> Ids:
    """Return the operating system's process id."""
    return (global_id >> THREAD_BITS) & MASK


def tid_of(global_id: Ids) -> Ids:
    """Return the operating system's thread id."""
    return global_id & MASK


def global_tid(pid: int, tid: int, vm: int = 0) -> int:
    """Return the serialised id of a thread, or of a process for tid 0.

    Raise ValueError if a part is out of range.
    """
    if not (0 <= pid <= MASK and 0 <= tid <= MASK and 0 <= vm <= 0xFF):
        raise ValueError(f"pid {pid}, tid {tid} or vm {vm} does not fit its bits")
    return (vm << 48) | (pid << THREAD_BITS) | tid


def codes(values: np.ndarray) -> np.ndarray:
    """Return the rank of each integer among the distinct ones; without sorting if they lie close together."""
    low, high = int(values.min(initial=0)), int(values.max(initial=0))
    if high - low > 4 * len(values):
        return np.unique(values, return_inverse=True)[1].reshape(-1)
    present, position = np.zeros(high - low + 1, dtype=bool), values - low
    present[position] = True
    return (np.cumsum(present) - 1)[position]


def lookup(keys: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return for each wanted value the index of the first equal key, -1 for none. Both are integer arrays."""
    if len(keys) == 0:
        return np.full(len(wanted), -1, dtype=np.int64)
    order = np.argsort(keys, kind="stable")
    position = np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)
    found = order[position]
    return np.where(keys[found] == wanted, found, -1)
