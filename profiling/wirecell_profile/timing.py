# SPDX-License-Identifier: Apache-2.0
"""Timing of the single activities of a script: kernels, copies and fills.

    timing_begin(Timing.ALL)
    ...
    results = timing_end()
    timing_print(results)

Activities are the torch operators of the calling thread as they reach the backend (below autograd, composite
operators split up), except views and allocations. CPU activities are timed on the host. CUDA activities are
timed between two events of their stream; the resolution is about 0.5 us, so short kernels appear longer than
they are. torch is only used if the script has imported it before timing_begin().
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import IntFlag
from typing import Any

Writer = Callable[[str], object]


class Timing(IntFlag):
    """Kinds of activities. A filter combines them."""

    NONE = 0
    KERNEL = 1  # operators of this project (spng::)
    KERNEL_LIBRARY = 2  # all other operators
    MEMCPY = 4
    MEMSET = 8
    GRAPH = 16  # launches of CUDA graphs that the script reports with activity()
    ALL = 31


@dataclass(frozen=True)
class TimingResult:
    """One activity. Times in milliseconds; `begin` counts from the start of timing."""

    name: str
    device: str
    kind: Timing
    begin: float
    elapsed: float


@dataclass
class _Entry:
    name: str
    device: str
    kind: Timing
    begin: int
    end: int = 0
    events: tuple[Any, Any] | None = None

    def elapsed(self) -> float:
        """Wait for the device and return the milliseconds."""
        if self.events is None:
            return (self.end - self.begin) * 1e-6
        self.events[1].synchronize()
        return float(self.events[0].elapsed_time(self.events[1]))


@dataclass
class _Timeline:
    """Activities of a thread from the first timing_begin() to the last timing_end()."""

    sections: list[tuple[Timing, int, int]] = field(default_factory=list)  # filter, begin, first entry
    entries: list[_Entry] = field(default_factory=list)
    mode: Any = None


_threads = threading.local()

COPIES = {"aten::copy_", "aten::_to_copy", "aten::clone", "aten::_foreach_copy_"}
FILLS = set(
    (
        "aten::zero_ aten::fill_ aten::zeros aten::zeros_like aten::ones aten::ones_like aten::full "
        "aten::full_like aten::new_zeros aten::new_ones aten::new_full"
    ).split()
)
NO_ACTIVITY = set(
    (
        "aten::detach aten::alias aten::lift aten::lift_fresh aten::_unsafe_view aten::set_ "
        "aten::resize_ aten::record_stream"
    ).split()
)


def _tensors(values: Iterable[Any]) -> Iterable[Any]:
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _tensors(value)
        elif isinstance(value, sys.modules["torch"].Tensor):
            yield value


def _is_activity(operator: Any) -> bool:
    name = operator.name().split(".")[0]
    return not (
        operator.is_view or name in NO_ACTIVITY or name.startswith(("aten::empty", "aten::new_empty"))
    )


def _side(device: str) -> str:
    return "H" if device == "cpu" else "D"


def _describe(operator: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> tuple[str, str, Timing]:
    """Return name, device and kind of an operator's activity."""
    name = operator.name().split(".")[0]
    devices = [str(tensor.device) for tensor in _tensors((*arguments, *named.values()))]
    asked = named.get("device")
    target = str(asked) if asked is not None else (devices[0] if devices else "cpu")
    working = next((device for device in (*devices, target) if device != "cpu"), "cpu")
    if name in COPIES:
        source = (
            devices[1] if name == "aten::copy_" and len(devices) > 1 else (devices[0] if devices else "cpu")
        )
        return f"memcpy {_side(source)}to{_side(target)}", working, Timing.MEMCPY
    if name in FILLS:
        return "memset", working, Timing.MEMSET
    return name, working, Timing.KERNEL if name.startswith("spng::") else Timing.KERNEL_LIBRARY


class activity:  # noqa: N801 - used like a function
    """An activity other than an operator, such as a graph launch: `with activity("step", Timing.GRAPH,
    "cuda:0"):`.

    It is only recorded while its thread is timed.
    """

    def __init__(self, name: str, kind: Timing, device: str = "cpu") -> None:
        self._entry: _Entry | None = None
        timeline = getattr(_threads, "timeline", None)
        if timeline is not None:
            self._entry = _Entry(name, device, kind, 0)
            timeline.entries.append(self._entry)

    def __enter__(self) -> None:
        if self._entry is None:
            return
        if self._entry.device.startswith("cuda"):
            cuda = sys.modules["torch"].cuda
            if not cuda.is_current_stream_capturing():
                self._entry.events = (cuda.Event(enable_timing=True), cuda.Event(enable_timing=True))
                self._entry.events[0].record()
        self._entry.begin = time.perf_counter_ns()

    def __exit__(self, *_: object) -> None:
        if self._entry is None:
            return
        self._entry.end = time.perf_counter_ns()
        if self._entry.events is not None:
            self._entry.events[1].record()


def _mode() -> Any:
    """Return the dispatch mode that times the operators of this thread; None if torch is not imported."""
    torch = sys.modules.get("torch")
    if torch is None:
        return None
    from torch.utils._python_dispatch import TorchDispatchMode

    class Follow(TorchDispatchMode):
        """Times every operator."""

        def __torch_dispatch__(
            self, operator: Any, _types: Any, arguments: Any = (), named: Any = None
        ) -> Any:
            named = named or {}
            if not _is_activity(operator):
                return operator(*arguments, **named)
            name, device, kind = _describe(operator, arguments, named)
            with activity(name, kind, device):
                return operator(*arguments, **named)

    mode = Follow()
    with mode:
        torch.empty(0)  # torch imports its compiler at the first operator in a mode: not in the user's time
    return mode


def timing_begin(wanted: Timing = Timing.ALL) -> None:
    """Start timing this thread's activities of these kinds. Each call needs its own timing_end()."""
    timeline = getattr(_threads, "timeline", None)
    if timeline is None:
        timeline = _threads.timeline = _Timeline(mode=_mode())
        if timeline.mode is not None:
            timeline.mode.__enter__()
    timeline.sections.append((wanted, time.perf_counter_ns(), len(timeline.entries)))


def timing_end() -> list[TimingResult]:
    """Return the activities since the matching timing_begin(), in the order of their issue.

    Wait until devices have finished them. Raise RuntimeError without timing_begin() on this thread.
    """
    timeline = getattr(_threads, "timeline", None)
    if timeline is None:
        raise RuntimeError("timing_end() without timing_begin() on this thread")
    wanted, begin, first = timeline.sections.pop()
    if not timeline.sections:
        _threads.timeline = None
        if timeline.mode is not None:
            timeline.mode.__exit__(None, None, None)
    return [
        TimingResult(entry.name, entry.device, entry.kind, (entry.begin - begin) * 1e-6, entry.elapsed())
        for entry in timeline.entries[first:]
        if entry.kind & wanted
    ]


def _table(title: str, header: tuple[str, str, str], rows: list[tuple[float, str, str]], indent: str) -> str:
    middle = max(len(text) for text in (header[1], *(row[1] for row in rows)))
    last = max(24, *(len(text) for text in (header[2], *(row[2] for row in rows))))
    rule = f"{'-' * 16}+{'-' * (middle + 2)}+{'-' * (last + 1)}"
    lines = [
        f"{title}:",
        rule,
        f"{header[0]:<16}| {header[1]:<{middle}} | {header[2]}",
        rule,
        *(f"{elapsed:12.6f} ms | {text:<{middle}} | {name}" for elapsed, text, name in rows),
    ]
    return "".join(f"{indent}{line}\n" for line in lines)


def _totals(results: list[TimingResult], key: Callable[[TimingResult], str]) -> list[tuple[float, str, str]]:
    """Return the totals over results with the same key, the longest first."""
    groups: dict[str, list[float]] = {}
    for result in results:
        groups.setdefault(key(result), []).append(result.elapsed)
    rows = [(sum(times), str(len(times)), name) for name, times in sorted(groups.items())]
    return sorted(rows, key=lambda row: -row[0])


def timing_print(results: list[TimingResult], indent: str = "", write: Writer | None = None) -> None:
    """Print three tables: the timeline, totals by activity and totals by device. `indent` begins each line.

    `write` receives the text, default standard output.
    """
    write = write or sys.stdout.write
    if not results:
        write(f"{indent}No activity.\n")
        return
    timeline = [(result.elapsed, result.device, result.name) for result in results]
    write(
        "\n".join(
            (
                _table("Timeline", ("Time", "Device", "Activity"), timeline, indent),
                _table(
                    "Activity summary",
                    ("Total time", "Count", "Activity"),
                    _totals(results, lambda one: one.name),
                    indent,
                ),
                _table(
                    "Device summary",
                    ("Total time", "Count", "Device"),
                    _totals(results, lambda one: one.device),
                    indent,
                ),
            )
        )
    )
