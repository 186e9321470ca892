# SPDX-License-Identifier: Apache-2.0
"""Timers of blocks and functions, and time between two points.

    with ScopedTimer("Demo", synchronize=True, filter=Timing.ALL):
        ...                                      prints tables of activities and "Demo took 4.91 ms"

    @ScopedTimer("step")                         the same for each call of a function

Without `synchronize` a timer measures host time; for work on a device that is the time to queue it.
"""

from __future__ import annotations

import functools
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, TypeVar

from wirecell_profile.annotate import Range
from wirecell_profile.timing import Timing, TimingResult, Writer, timing_begin, timing_end, timing_print

Report = Callable[[list[TimingResult], str], object]

_Function = TypeVar("_Function", bound=Callable[..., Any])
_threads = threading.local()


def _cuda() -> Any:
    """Return torch.cuda if the script uses it, else None."""
    torch = sys.modules.get("torch")
    return (
        torch.cuda
        if torch is not None and torch.cuda.is_available() and torch.cuda.is_initialized()
        else None
    )


def synchronize() -> None:
    """Wait for the current CUDA device, unless none is in use or its stream is being captured."""
    cuda = _cuda()
    if cuda is not None and not cuda.is_current_stream_capturing():
        cuda.synchronize()


@dataclass
class TimerResult:
    """Result of a timer: milliseconds, count of timers around it on its thread, and its activities."""

    name: str
    elapsed: float = 0.0
    depth: int = 0
    activities: list[TimingResult] = field(default_factory=list)


class ScopedTimer:
    """A context manager, or a decorator that times each call.

    active       False: neither measure nor print
    print        False: only measure; see `result` and `collect`
    synchronize  wait for all work of the current CUDA device before and after
    use_nvtx     also open a range of this name in the domain "spng", with `colour` as for Range
    filter       kinds of activities to time (timing.py)
    report       called with the activities and the indent, instead of timing_print
    collect      called with the TimerResult when the timer ends
    write        receives the text, default standard output

    The text is indented by four blanks for each active timer around this one.
    """

    def __init__(
        self,
        name: str,
        *,
        active: bool = True,
        print: bool = True,
        synchronize: bool = False,  # noqa: A002
        use_nvtx: bool = False,
        colour: int | str | None = None,
        color: int | str | None = None,
        filter: Timing = Timing.NONE,  # noqa: A002
        report: Report | None = None,
        collect: Callable[[TimerResult], object] | None = None,
        write: Writer | None = None,
    ) -> None:
        self._options: dict[str, Any] = {
            "active": active,
            "print": print,
            "synchronize": synchronize,
            "use_nvtx": use_nvtx,
            "colour": color if colour is None else colour,
            "filter": filter,
            "report": report,
            "collect": collect,
            "write": write,
        }
        self.result = TimerResult(name)
        self._range = Range(name, colour=self._options["colour"]) if use_nvtx else None
        self._begin = 0

    @property
    def elapsed(self) -> float:
        """Milliseconds. Call it after the timer has ended."""
        return self.result.elapsed

    def __enter__(self) -> ScopedTimer:
        if not self._options["active"]:
            return self
        self.result = TimerResult(self.result.name, depth=getattr(_threads, "depth", 0))
        _threads.depth = self.result.depth + 1
        if self._options["synchronize"]:
            synchronize()
        if self._options["filter"]:
            timing_begin(self._options["filter"])
        if self._range is not None:
            self._range.__enter__()
        self._begin = time.perf_counter_ns()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._options["active"]:
            return
        try:
            if self._options["synchronize"]:
                synchronize()
        finally:
            self.result.elapsed = (time.perf_counter_ns() - self._begin) * 1e-6
            if self._range is not None:
                self._range.__exit__(None, None, None)
            _threads.depth -= 1
            if self._options["filter"]:
                self.result.activities = timing_end()
        if self._options["print"]:
            self._show()
        if self._options["collect"] is not None:
            self._options["collect"](self.result)

    def _show(self) -> None:
        write: Writer = self._options["write"] or sys.stdout.write
        indent = "    " * self.result.depth
        if self._options["filter"]:
            if self._options["report"] is not None:
                self._options["report"](self.result.activities, indent)
            else:
                timing_print(self.result.activities, indent, write)
        write(f"{indent}{self.result.name} took {self.result.elapsed:.2f} ms\n")

    def __call__(self, function: _Function) -> _Function:
        @functools.wraps(function)
        def timed(*arguments: Any, **named: Any) -> Any:
            with ScopedTimer(self.result.name, **self._options):
                return function(*arguments, **named)

        return timed  # type: ignore[return-value]


class TimingEvent:
    """A point in host time, or after the work queued on the current stream of a CUDA device.

    During a CUDA graph capture the event becomes a node of the graph; its time is that of the latest launch.
    """

    def __init__(self, device: str = "cpu") -> None:
        self.device = device
        self._time: int | None = None
        self._event: Any = None

    def record(self) -> None:
        """Set the point to now, without waiting. May be called again."""
        if self.device == "cpu":
            self._time = time.perf_counter_ns()
            return
        torch = sys.modules["torch"]
        with torch.cuda.device(self.device):
            captured = torch.cuda.is_current_stream_capturing()
            self._event = (
                torch.cuda.Event(enable_timing=True, external=True)
                if captured
                else torch.cuda.Event(enable_timing=True)
            )
            self._event.record()

    def milliseconds_until(self, end: TimingEvent, wait: bool = True) -> float | None:
        """Return the time to a later point of the same device.

        Return None if a point was never recorded, or if `wait` is False and the device has not reached `end`.
        Raise ValueError for points of different devices.
        """
        if self.device != end.device:
            raise ValueError(
                f"cannot take the time between points of different devices, {self.device} and {end.device}"
            )
        if self._time is not None and end._time is not None:
            return (end._time - self._time) * 1e-6
        if self._event is None or end._event is None or not (wait or end._event.query()):
            return None
        end._event.synchronize()
        return float(self._event.elapsed_time(end._event))
