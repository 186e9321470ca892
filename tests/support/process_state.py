# SPDX-License-Identifier: Apache-2.0
"""The state of a process that belongs to its program, not to the libraries in it: run with `python -m`, it prints what a
Pipeline changes, as JSON.
"""

from __future__ import annotations

import ctypes
import json
import locale
import logging
import os
import resource
import signal
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

LARGE = 1 << 30  # bytes; glibc maps such a block on its own, unless somebody changed malloc


class Mallinfo(ctypes.Structure):
    """struct mallinfo2 of glibc."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
    )


def loaded(name: str) -> ctypes.CDLL | None:
    """Return a library that is loaded already, by the beginning of its file name."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        path = line.partition("/")[2]
        if Path(path).name.startswith(name):
            return ctypes.CDLL("/" + path)
    return None


def call(library: str, symbol: str, *arguments: object, result: Any = ctypes.c_void_p) -> Any:
    """Call a function of a loaded library; None without the library."""
    found = loaded(library)
    if found is None:
        return None
    function = getattr(found, symbol)
    function.restype = result
    return function(*arguments)


def large_blocks_are_mapped() -> bool:
    """Tell whether malloc maps large blocks, as it does unless mallopt() was called."""
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, (ctypes.c_size_t,)
    libc.free.argtypes = (ctypes.c_void_p,)
    libc.mallinfo2.restype = Mallinfo
    before = libc.mallinfo2().hblks
    block = libc.malloc(LARGE)
    mapped = libc.mallinfo2().hblks > before
    libc.free(block)
    return mapped


def environment_of_c() -> list[str]:
    """Return the variables that getenv() sees."""
    values = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
    found = []
    for value in values:
        if value is None:
            break
        found.append(os.fsdecode(value))
    return sorted(found)


def handlers() -> dict[str, str]:
    """Return the signals that the process catches, ignores and blocks, as the kernel has them."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return dict(line.split(":\t") for line in lines if line.startswith(("SigBlk", "SigIgn", "SigCgt")))


def in_new_thread(ask: Callable[[], Any]) -> Any:
    """Return what a thread sees that starts now."""
    seen: list[Any] = []
    thread = threading.Thread(target=lambda: seen.append(ask()))
    thread.start()
    thread.join()
    return seen[0]


def operation_threads() -> int | None:
    """Return LibTorch's number of threads of an operation."""
    return call("libtorch_cpu.so", "_ZN2at15get_num_threadsEv", result=ctypes.c_int)


def state() -> dict[str, Any]:
    """Return everything that a library could change for its host."""
    umask = os.umask(0)
    os.umask(umask)
    libm = ctypes.CDLL("libm.so.6")
    return {
        "signals": handlers(),
        "handlers": [str(signal.getsignal(one)) for one in sorted(signal.valid_signals())],
        "environment": environment_of_c(),
        "variables": sorted(os.environ.items()),
        "locale": locale.setlocale(locale.LC_ALL),
        "umask": umask,
        "folder": os.getcwd(),
        "limits": [resource.getrlimit(one) for one in range(16)],
        "priority": os.getpriority(os.PRIO_PROCESS, 0),
        "rounding": [libm.fegetround(), in_new_thread(libm.fegetround)],
        "dlopen flags": sys.getdlopenflags(),
        "global symbols": hasattr(ctypes.CDLL(None), "spng_run_program"),
        "malloc": large_blocks_are_mapped(),
        "terminate": call("libstdc++.so", "_ZSt13get_terminatev"),
        "logging": [
            logging.root.level,
            len(logging.root.handlers),
            logging.getLogger("spng").level,
            logging.raiseExceptions,
        ],
        "warnings": len(warnings.filters),
        "hooks": [str(sys.excepthook), str(threading.excepthook), str(sys.stdout), str(sys.stderr)],
    }


def state_of_libtorch() -> dict[str, Any]:
    """Return what a library could change for other users of LibTorch in the process."""
    cpu = ctypes.c_int8(0)
    return {
        "allocator": call("libc10.so", "_ZN3c1012GetAllocatorERKNS_10DeviceTypeE", ctypes.byref(cpu)),
        "threads": [operation_threads(), in_new_thread(operation_threads)],
        "observers": call("libtorch_cpu.so", "_ZN2at18hasGlobalCallbacksEv", result=ctypes.c_bool),
        "oneTBB": call("libtbb.so", "_ZN3tbb6detail2r127global_control_active_valueEi", 0),
    }


def differences(before: dict[str, Any], after: dict[str, Any], when: str) -> list[str]:
    """Name what is different."""
    return [f"{key} {when}: {before[key]} -> {after[key]}" for key in before if before[key] != after[key]]


def main() -> None:
    """Print what changes: by the import, by a Pipeline after its events, and after its end."""
    adc, model = sys.argv[1:3]
    in_new_thread(int)  # glibc handles a signal of its own from the first thread on
    ctypes.CDLL("libstdc++.so.6")
    import numpy  # noqa: F401, PLC0415  (it adds filters of warnings)

    nothing = state()
    import spng  # noqa: PLC0415  (the import is part of the test)

    event = next(spng.read_frames(adc))
    imported, libtorch = state(), state_of_libtorch()
    changes = differences(nothing, imported, "by the import")
    for engine in ("Pgrapher", "TbbFlow"):
        with spng.Pipeline(model=model, device="cpu", engine=engine, threads=1) as pipeline:
            for _ in range(2):
                pipeline(event)
            changes += differences(imported, state(), f"by {engine}")
            changes += differences(libtorch, state_of_libtorch(), f"by {engine}")
        changes += differences(imported, state(), f"after {engine}")
        changes += differences(libtorch, state_of_libtorch(), f"after {engine}")
    print(json.dumps({"changes": changes, "seen": {**nothing, **libtorch}}, default=str))


if __name__ == "__main__":
    main()
