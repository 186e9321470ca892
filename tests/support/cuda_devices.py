# SPDX-License-Identifier: Apache-2.0
"""CUDA devices of this machine."""

from __future__ import annotations

import ctypes
from functools import cache


@cache
def device_count() -> int:
    """Return the number of CUDA devices from the driver, as the program does."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0
    count = ctypes.c_int(0)
    if driver.cuInit(0) != 0 or driver.cuDeviceGetCount(ctypes.byref(count)) != 0:
        return 0
    return count.value
