# SPDX-License-Identifier: Apache-2.0
"""The capture window of a script starts and stops the profiler of the CUDA runtime that the script has loaded."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
from wirecell_profile import capture
from wirecell_profile.capture import CaptureWindow


class Runtime:
    """Counts the calls."""

    def __init__(self, status: int) -> None:
        self.calls: list[str] = []
        self.cudaProfilerStart = self._function("start", status)
        self.cudaProfilerStop = self._function("stop", 0)

    def _function(self, name: str, status: int) -> Callable[[], int]:
        def call() -> int:
            self.calls.append(name)
            return status

        return call


@pytest.mark.parametrize(
    ("status", "is_open", "calls"), [(0, True, ["start", "stop"]), (35, False, ["start"])]
)
def test_start_and_stop(
    monkeypatch: pytest.MonkeyPatch, status: int, is_open: bool, calls: list[str]
) -> None:
    """A start that the runtime rejects, as without a driver, is not stopped."""
    runtime = Runtime(status)
    monkeypatch.setattr(capture, "_runtime", lambda: runtime)
    capture_window = CaptureWindow()
    for _ in range(2):
        with capture_window:
            assert capture_window.is_open == is_open
        assert not capture_window.is_open
    assert runtime.calls == 2 * calls


def test_an_error_in_the_block_closes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = Runtime(0)
    monkeypatch.setattr(capture, "_runtime", lambda: runtime)
    with pytest.raises(KeyError), CaptureWindow():
        raise KeyError
    assert runtime.calls == ["start", "stop"]


def test_nothing_is_loaded_for_it() -> None:
    """In a process without CUDA it does nothing."""
    code = """
from wirecell_profile.capture import CaptureWindow
with CaptureWindow() as window:
    print(window.is_open, "cudart" in open("/proc/self/maps").read())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"
