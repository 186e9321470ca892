# SPDX-License-Identifier: Apache-2.0
"""Capture window of a Python script, for profilers that wait for one.

with CaptureWindow():                        nsys profile -c cudaProfilerApi python script.py
    ...                                      ncu --profile-from-start off python script.py
"""

from __future__ import annotations

import ctypes
import os
from types import TracebackType

RUNTIMES = ("libcudart.so.13", "libcudart.so.12")


def _runtime() -> ctypes.CDLL | None:
    """Return the CUDA runtime that this process has loaded, for example by torch; never load one."""
    for name in RUNTIMES:
        try:
            return ctypes.CDLL(name, mode=os.RTLD_NOLOAD | os.RTLD_NOW)
        except OSError:
            continue
    return None


class CaptureWindow:
    """Lets a profiler that waits for cudaProfilerStart record the block.

    Does nothing without a loaded CUDA runtime. Windows do not nest: cudaProfilerStop ends all of them.
    """

    def __init__(self) -> None:
        self._open_runtime: ctypes.CDLL | None = None

    @property
    def is_open(self) -> bool:
        """Whether the CUDA runtime accepted the start."""
        return self._open_runtime is not None

    def __enter__(self) -> CaptureWindow:
        runtime = _runtime()
        if runtime is not None and runtime.cudaProfilerStart() == 0:
            self._open_runtime = runtime
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._open_runtime is not None:
            self._open_runtime.cudaProfilerStop()
            self._open_runtime = None
