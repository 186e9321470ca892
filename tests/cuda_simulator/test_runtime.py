# SPDX-License-Identifier: Apache-2.0
"""The simulated CUDA runtime follows the rules of streams, captures and memory, and names who breaks them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.support import cuda_simulator, wire_cell
from tests.support.cuda_simulator import Report

pytestmark = cuda_simulator.needs_simulator

PRELUDE = """
from tests.cuda_simulator.runtime_calls import *
cuda = Runtime()
SIZE = 4096
"""


class Answer(NamedTuple):
    status: int
    printed: list[str]
    errors: str
    report: Report


def run(folder: Path, text: str, **settings: object) -> Answer:
    """Run lines of Python over the simulator."""
    path = folder / "simulator.json"
    done = subprocess.run(
        [sys.executable, "-c", PRELUDE + text],
        cwd=wire_cell.ROOT,
        env=cuda_simulator.environment(path, **settings),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return Answer(done.returncode, done.stdout.split(), done.stderr, Report(path))


def printed(folder: Path, text: str, **settings: object) -> list[str]:
    answer = run(folder, text, **settings)
    assert answer.status == 0, answer.errors
    answer.report.check()
    return answer.printed


def test_the_host_cannot_touch_device_memory(tmp_path: Path) -> None:
    answer = run(tmp_path, "ctypes.memset(cuda.memory(SIZE), 0, 1)")
    assert answer.status == -11


def test_work_waits_for_the_host(tmp_path: Path) -> None:
    """The target of a download holds NaN until somebody waits for it."""
    lines = """
device, host, stream = cuda.memory(SIZE), cuda.page_locked(SIZE), cuda.stream()
value = ctypes.cast(host, ctypes.POINTER(ctypes.c_float))
cuda.fill(device, 0, SIZE, stream)
cuda.copy(host, device, SIZE, stream)
say(value[0])
cuda.cudaStreamSynchronize(stream)
say(value[0])
"""
    assert printed(tmp_path, lines) == ["nan", "0.0"]


def test_fresh_memory_holds_nan(tmp_path: Path) -> None:
    lines = """
host = cuda.page_locked(SIZE)
cuda.cudaMemcpy(host, cuda.memory(SIZE), ctypes.c_size_t(SIZE), ANY)
say(ctypes.cast(host, ctypes.POINTER(ctypes.c_float))[7], ctypes.cast(host, ctypes.POINTER(ctypes.c_double))[7])
"""
    assert printed(tmp_path, lines) == ["nan", "nan"]


def test_uploads_read_their_source_late(tmp_path: Path) -> None:
    """A host that overwrites page-locked memory too early spoils the copy; pageable memory is read at once."""
    lines = """
stream, target = cuda.stream(), cuda.page_locked(1)
for source in (cuda.page_locked(1), ctypes.create_string_buffer(1)):
    device = cuda.memory(1)
    ctypes.memset(source, 1, 1)
    cuda.copy(device, source, 1, stream)
    ctypes.memset(source, 2, 1)
    cuda.copy(target, device, 1, stream)
    cuda.cudaStreamSynchronize(stream)
    say(ctypes.string_at(target, 1)[0])
"""
    assert printed(tmp_path, lines) == ["2", "1"]


def test_events_are_ready_late(tmp_path: Path) -> None:
    """Seven of eight queries find work that is not done; the eighth does it."""
    lines = """
device, stream, event = cuda.memory(SIZE), cuda.stream(), cuda.event()
cuda.fill(device, 1, SIZE, stream)
cuda.cudaEventRecord(event, stream)
say(*[cuda.cudaEventQuery(event) for _ in range(9)])
"""
    assert printed(tmp_path, lines) == ["600"] * 7 + ["0"] * 2


RACE = """
device, first, second, event = cuda.memory(SIZE), cuda.stream(), cuda.stream(), cuda.event()
cuda.fill(device, 1, SIZE, first)
{order}
{then}
"""
FILL, READ = "cuda.fill(device, 2, SIZE, second)", "cuda.copy(cuda.page_locked(SIZE), device, SIZE, second)"


@pytest.mark.parametrize(("then", "access"), [(FILL, "write"), (READ, "read")], ids=["write", "read"])
@pytest.mark.parametrize("order", ["pass", "cuda.cudaEventRecord(event, first)"], ids=["none", "record-only"])
def test_a_race_names_both_operations(tmp_path: Path, then: str, access: str, order: str) -> None:
    races = run(tmp_path, RACE.format(order=order, then=then)).report.all["races"]
    assert len(races) == 1
    later = "cudaMemsetAsync" if access == "write" else "cudaMemcpyAsync"
    assert races[0].startswith(f"{access} of memory of cuda:0 without order: {later} (operation 2, stream ")
    assert " after cudaMemsetAsync (operation 1, stream " in races[0]


def test_a_write_after_a_read_is_a_race(tmp_path: Path) -> None:
    lines = (
        RACE.format(order="cuda.cudaStreamSynchronize(first)", then=READ)
        + "cuda.fill(device, 3, SIZE, first)"
    )
    races = run(tmp_path, lines).report.all["races"]
    assert len(races) == 1 and "cudaMemsetAsync" in races[0] and "after cudaMemcpyAsync" in races[0]


@pytest.mark.parametrize(
    "order",
    [
        "cuda.cudaStreamSynchronize(first)",
        "cuda.cudaDeviceSynchronize()",
        "cuda.cudaEventRecord(event, first); cuda.cudaStreamWaitEvent(second, event, 0)",
        "cuda.cudaEventRecord(event, first); cuda.cudaEventSynchronize(event)",
        "cuda.cudaEventRecord(event, first)\nwhile cuda.cudaEventQuery(event): pass",
    ],
)
@pytest.mark.parametrize("then", [FILL, READ], ids=["write", "read"])
def test_ordered_accesses_are_no_race(tmp_path: Path, order: str, then: str) -> None:
    assert printed(tmp_path, RACE.format(order=order, then=then)) == []


def test_accesses_to_other_bytes_are_no_race(tmp_path: Path) -> None:
    lines = """
device, first, second = cuda.memory(SIZE), cuda.stream(), cuda.stream()
cuda.fill(device, 1, SIZE // 2, first)
cuda.fill(Address(device.value + SIZE // 2), 1, SIZE // 2, second)
"""
    assert printed(tmp_path, lines) == []


CAPTURE = """
device, host, stream, event = cuda.memory(SIZE), cuda.page_locked(SIZE), cuda.stream(), cuda.event()
ctypes.memset(host, 5, SIZE)
say(cuda.cudaStreamBeginCapture(stream, {mode}))
{captured}
graph, again = Address(), Address()
say(cuda.cudaStreamEndCapture(stream, ctypes.byref(graph)))
"""


def test_a_graph_repeats_its_work(tmp_path: Path) -> None:
    """The captured copy does not run; each launch runs it with the bytes that are there then."""
    lines = CAPTURE.format(mode="THREAD_LOCAL", captured="cuda.copy(device, host, SIZE, stream)")
    lines += """
cuda.cudaGraphInstantiateWithFlags(ctypes.byref(again), graph, ctypes.c_ulonglong(0))
for value in (6, 7):
    ctypes.memset(host, value, SIZE)
    cuda.cudaGraphLaunch(again, stream)
    back = cuda.page_locked(SIZE)
    cuda.copy(back, device, SIZE, stream)
    cuda.cudaStreamSynchronize(stream)
    say(ctypes.string_at(back, 1)[0])
"""
    assert printed(tmp_path, lines) == ["0", "0", "6", "7"]


@pytest.mark.parametrize(
    "call",
    [
        "cuda.cudaMalloc(ctypes.byref(Address()), ctypes.c_size_t(8))",
        "cuda.cudaFree(device)",
        "cuda.cudaStreamSynchronize(stream)",
        "cuda.cudaDeviceSynchronize()",
        "cuda.copy(device, ctypes.create_string_buffer(8), 8, stream)",
    ],
)
def test_a_forbidden_call_breaks_the_capture(tmp_path: Path, call: str) -> None:
    answer = run(tmp_path, CAPTURE.format(mode="THREAD_LOCAL", captured=f"say({call})"))
    assert answer.printed == ["0", "900", "901"], answer.errors


def test_a_relaxed_capture_allows_allocations(tmp_path: Path) -> None:
    assert printed(tmp_path, CAPTURE.format(mode="RELAXED", captured="cuda.memory(8)")) == ["0", "0"]


def test_another_thread_may_allocate_beside_a_capture_of_a_thread(tmp_path: Path) -> None:
    """Unless the capture is global."""
    captured = """
import threading
other = threading.Thread(target=lambda: say(cuda.cudaFree(cuda.memory(8)) if {allowed} else
                                            cuda.cudaMalloc(ctypes.byref(Address()), ctypes.c_size_t(8))))
other.start()
other.join()
"""
    own = run(tmp_path, CAPTURE.format(mode="THREAD_LOCAL", captured=captured.format(allowed=True)))
    everybody = run(tmp_path, CAPTURE.format(mode="GLOBAL", captured=captured.format(allowed=False)))
    assert own.printed == ["0", "0", "0"] and everybody.printed == ["0", "900", "901"]


def test_memory_ends(tmp_path: Path) -> None:
    lines = """
say(cuda.cudaMalloc(ctypes.byref(Address()), ctypes.c_size_t(900_000)))
say(cuda.cudaMalloc(ctypes.byref(Address()), ctypes.c_size_t(200_000)), cuda.cudaGetLastError(), cuda.cudaGetLastError())
"""
    assert printed(tmp_path, lines, memory_mb=1) == ["0", "2", "2", "0"]


def test_a_lost_device_stays_lost(tmp_path: Path) -> None:
    """Its calls fail, its queued work is not done; other devices work."""
    lines = """
stream, device = cuda.stream(), cuda.memory(SIZE)
graph, again = Address(), Address()
cuda.cudaStreamBeginCapture(stream, RELAXED)
cuda.fill(device, 1, SIZE, stream)
cuda.cudaStreamEndCapture(stream, ctypes.byref(graph))
cuda.cudaGraphInstantiateWithFlags(ctypes.byref(again), graph, ctypes.c_ulonglong(0))
say(cuda.cudaGraphLaunch(again, stream), cuda.cudaGraphLaunch(again, stream))
say(cuda.cudaStreamSynchronize(stream), cuda.cudaStreamSynchronize(stream))
cuda.cudaSetDevice(1)
say(cuda.cudaDeviceSynchronize())
"""
    answer = run(tmp_path, lines, devices=2, lost_after=1)
    assert answer.printed == ["0", "0", "700", "700", "0"] and answer.report.all["lost_devices"] == 1


def test_what_is_missing_names_itself(tmp_path: Path) -> None:
    """A function that LibTorch imports and the simulator does not have, as a newer LibTorch may."""
    answer = run(tmp_path, "say(cuda.cudaIpcGetMemHandle(None, None))")
    assert answer.printed == ["801"] and "the simulator has no cudaIpcGetMemHandle" in answer.errors
    assert answer.report.all["defects"] == ["the simulator has no cudaIpcGetMemHandle"]
