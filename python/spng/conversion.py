# SPDX-License-Identifier: Apache-2.0
"""Frames and masks between this package and its native module."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .errors import input_error
from .frame import Frame, SparseSamples, Traces


def frame_of(event: dict[str, Any], convert: Callable[[Any], Any] = lambda samples: samples) -> Frame:
    """Return the frame of an event of _core. Its arrays share the memory of the event.

    convert  is called with dense samples
    """
    return Frame(
        {each["tag"]: _traces_of(each, convert) for each in event["traces"]},
        event["ident"],
        {name: np.array(ranges, np.int64).reshape(-1, 3) for name, ranges in event["masks"].items()},
        event["notes"],
    )


def _traces_of(each: dict[str, Any], convert: Callable[[Any], Any]) -> Traces:
    if each["runs"] is not None:
        samples: Any = SparseSamples(each["runs"], each["samples"], each["shape"])
    else:
        samples = convert(each["samples"])
    channels = np.array(each["channels"], np.int32)
    summary = np.array(each["summary"]) if each["summary"] else None
    return Traces(
        each["tag"], samples, channels, each["tick_ns"], each["start_ns"], each["first_tick"], summary
    )


def ranges_of(masks: Mapping[str, Any]) -> dict[str, list[tuple[int, int, int]]]:
    """Return channel masks as lists of (channel, begin tick, end tick). Raise spng.Error for another form."""
    found = {}
    for name, ranges in masks.items():
        rows = np.asarray(ranges)
        if rows.size and (rows.ndim != 2 or rows.shape[1] != 3 or not np.issubdtype(rows.dtype, np.integer)):
            raise input_error(
                "a channel mask has the wrong form",
                where=f"mask {name!r}",
                seen=f"{rows.dtype} of shape {rows.shape}",
                expected="integers (n, 3): channel, begin tick, end tick",
            )
        found[name] = [tuple(row) for row in rows.reshape(-1, 3).tolist()]
    return found


def argument_text(value: Any) -> str:
    """Return an argument as a job reads it: True as "true", a list with commas."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(argument_text(each) for each in value)
    return str(value)
