# SPDX-License-Identifier: Apache-2.0
"""NVTX ranges and marks for Python scripts. Tools and the recorder show them beside those of wire-cell.

    with Range("load"):                          a range for the block
    @Range("train", kind="dnn")                  a range for each call of a function
    @function_range                              the same, named after the function: "Trainer.step"
    mark("half way")                             one point in time
    handle = start("upload", payload=3)          asynchronous work, which may end on another thread
    end(handle)

Kinds set category and colour as in wire-cell (palette.py); domains and levels are those of TorchnvTools.h.
Without the package `nvtx` (pip install nvtx) or without a listening tool, the ranges do
nothing.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from enum import IntEnum
from types import TracebackType
from typing import Any, TypeVar

from wirecell_profile.palette import argb_named, argb_of

try:
    import nvtx as _nvtx
except ImportError:  # an extra of this package
    _nvtx = None

LEVEL_VARIABLE = "SPNG_NVTX_LEVEL"

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Level(IntEnum):
    """Detail of annotation; each level includes the lower ones."""

    OFF = 0
    NODES = 1
    STEPS = 2
    SCHEDULING = 3
    TORCH = 4


def level_of_environment() -> Level:
    """Return the level in SPNG_NVTX_LEVEL, STEPS if it is unset or invalid."""
    text = os.environ.get(LEVEL_VARIABLE, "")
    return Level(int(text)) if text in {"0", "1", "2", "3", "4"} else Level.STEPS


_level = level_of_environment()


def set_level(level: Level) -> None:
    """Set the level of the whole process. Open ranges still end."""
    global _level  # noqa: PLW0603 - one level for the process, as in C++
    _level = level


def level() -> Level:
    """Return the current level."""
    return _level


def is_available() -> bool:
    """Return whether the package nvtx is installed, with or without a listening tool."""
    return _nvtx is not None


def _argb(kind: str, colour: int | str | None, color: int | str | None) -> int:
    """Return the given colour, under either spelling of the argument, else that of the kind."""
    given = color if colour is None else colour
    return argb_of(kind) if given is None else argb_named(given)


def _attributes(domain: str, name: str, kind: str, payload: float | None, argb: int) -> tuple[Any, Any]:
    """Return the domain, and the attributes of a range or mark in it."""
    handle = _nvtx.get_domain(domain)
    return handle, handle.get_event_attributes(message=name, color=argb, category=kind, payload=payload)


def _is_on(needed: Level) -> bool:
    return _nvtx is not None and _level >= needed


class Range:
    """A range of this thread: a context manager, or a decorator that opens a range for each call.

    `payload` is an integer or a float, such as the index of an event. `colour`, also spelt `color`, overrides
    the colour of the kind: 0xAARRGGBB or a name such as "orange" (palette.COLOURS). Two threads must not enter
    one object at the same time.
    """

    def __init__(
        self,
        name: str,
        kind: str = "step",
        *,
        payload: float | None = None,
        colour: int | str | None = None,
        color: int | str | None = None,
        domain: str = "spng",
        level: Level = Level.STEPS,
    ) -> None:
        self._given = (name, kind, payload, _argb(kind, colour, color), domain, level)
        self._entered: list[Any] = []  # domains of the open entries; None: the level suppressed it

    def __enter__(self) -> Range:
        name, kind, payload, argb, domain, needed = self._given
        handle = None
        if _is_on(needed):
            handle, attributes = _attributes(domain, name, kind, payload, argb)
            handle.push_range(attributes)
        self._entered.append(handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        handle = self._entered.pop()
        if handle is not None:
            handle.pop_range()

    def __call__(self, function: _Function) -> _Function:
        name, kind, payload, argb, domain, needed = self._given

        @functools.wraps(function)
        def annotated(*arguments: Any, **named: Any) -> Any:
            with Range(name, kind, payload=payload, colour=argb, domain=domain, level=needed):
                return function(*arguments, **named)

        return annotated  # type: ignore[return-value]


def function_range(function: _Function) -> _Function:
    """Open a range for each call, named after the function within its module."""
    return Range(function.__qualname__.replace("<locals>.", ""))(function)


def mark(
    name: str,
    kind: str = "step",
    *,
    payload: float | None = None,
    colour: int | str | None = None,
    color: int | str | None = None,
    domain: str = "spng",
    level: Level = Level.STEPS,
) -> None:
    """Mark one point in time. Arguments as for Range."""
    argb = _argb(kind, colour, color)
    if _is_on(level):
        handle, attributes = _attributes(domain, name, kind, payload, argb)
        handle.mark(attributes)


class Started:
    """Handle of a range from start() to end()."""

    def __init__(self, domain: Any = None, range_id: Any = None) -> None:
        self._domain = domain
        self._range_id = range_id

    def end(self) -> None:
        """End the range, on any thread; later calls do nothing."""
        if self._domain is not None:
            self._domain.end_range(self._range_id)
            self._domain = None


def start(
    name: str,
    kind: str = "step",
    *,
    payload: float | None = None,
    colour: int | str | None = None,
    color: int | str | None = None,
    domain: str = "spng",
    level: Level = Level.STEPS,
) -> Started:
    """Begin a range that may overlap others and end on another thread. Arguments as for Range."""
    argb = _argb(kind, colour, color)
    if not _is_on(level):
        return Started()
    handle, attributes = _attributes(domain, name, kind, payload, argb)
    return Started(handle, handle.start_range(attributes))


def end(started: Started) -> None:
    """End a range of start()."""
    started.end()
