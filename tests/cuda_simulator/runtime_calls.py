# SPDX-License-Identifier: Apache-2.0
"""Functions of the simulated runtime in Python, for programs that tests run over it."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

SUCCESS, OUT_OF_MEMORY, NOT_READY, ILLEGAL_ADDRESS, NOT_SUPPORTED = 0, 2, 600, 700, 801
CAPTURE_UNSUPPORTED, CAPTURE_INVALIDATED, CAPTURED_EVENT = 900, 901, 907
NON_BLOCKING, NO_TIMING = 1, 2
ANY = 4  # cudaMemcpyDefault
GLOBAL, THREAD_LOCAL, RELAXED = 0, 1, 2

Address = ctypes.c_void_p


class Runtime:
    """libcudart over ctypes. Calls return their status."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(next(Path(os.environ["LD_LIBRARY_PATH"]).glob("libcudart.so.*")))

    def __getattr__(self, name: str) -> ctypes._FuncPointer:
        return self._library[name]

    def make(self, function: str, *arguments: object) -> Address:
        """Return what a function makes through its first argument."""
        made = Address()
        status = self._library[function](ctypes.byref(made), *arguments)
        assert status == SUCCESS, (function, status)
        return made

    def memory(self, size: int) -> Address:
        return self.make("cudaMalloc", ctypes.c_size_t(size))

    def page_locked(self, size: int) -> Address:
        return self.make("cudaHostAlloc", ctypes.c_size_t(size), 0)

    def stream(self) -> Address:
        return self.make("cudaStreamCreateWithPriority", NON_BLOCKING, 0)

    def event(self) -> Address:
        return self.make("cudaEventCreateWithFlags", NO_TIMING)

    def copy(self, target: Address, source: Address, size: int, stream: Address) -> int:
        status: int = self.cudaMemcpyAsync(target, source, ctypes.c_size_t(size), ANY, stream)
        return status

    def fill(self, target: Address, value: int, size: int, stream: Address) -> int:
        status: int = self.cudaMemsetAsync(target, value, ctypes.c_size_t(size), stream)
        return status


def say(*values: object) -> None:
    print(*values)
    sys.stdout.flush()
