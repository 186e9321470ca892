# SPDX-License-Identifier: Apache-2.0
"""Masks and arguments for the native module."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from .arguments import is_path, seen
from .errors import Error, input_error

# Arguments of the jobs that are parameters in Python, under other names.
PARAMETERS = {"detname": "detector", "tpcid": "anode"}
# Arguments that Pipeline sets: events come from memory.
RESERVED = {"input": "call the pipeline with the events", "output": "the pipeline returns the events"}


def is_masked(values: Any) -> bool:
    """Tell whether an array of numpy.ma, or one of a list, has masked elements, whose values mean nothing."""
    arrays = values if isinstance(values, (list, tuple)) else [values]
    return any(isinstance(each, np.ma.MaskedArray) and np.ma.is_masked(each) for each in arrays)


def require_whole_array(values: Any, where: str) -> None:
    """Raise spng.Error for masked elements, and for a list that is no array. The native module calls it for every array."""
    if is_masked(values):
        raise input_error(
            "masked elements have no values",
            where=where,
            seen=f"{np.ma.count_masked(values)} masked elements",
            expected="an array without masked elements",
            hint="fill them, and name the samples in a mask of the event: masks={'bad': [[channel, begin tick, end tick]]}",
        )
    if isinstance(values, (list, tuple)):
        try:
            np.asarray(values)
        except (ValueError, TypeError, OverflowError):
            raise input_error(
                "the list is no array", where=where, seen=seen(values), expected="lists of equal lengths"
            ) from None


def integers_of(values: Any) -> np.ndarray | None:
    """Return a list as an array; None if it holds anything but integers, or lists of different lengths."""
    if is_masked(values):
        return None
    try:
        array = np.asarray(values)
    except (ValueError, TypeError, OverflowError):
        return None
    return array if array.dtype.kind in "iu" or array.size == 0 else None


def ranges_of(masks: Mapping[str, Any]) -> dict[str, list[tuple[int, int, int]]]:
    """Return channel masks as lists of (channel, begin tick, end tick). Raise spng.Error for another form."""
    found = {}
    for name, ranges in masks.items():
        rows = integers_of(ranges)
        if rows is None or rows.size and (rows.ndim != 2 or rows.shape[1] != 3):
            raise input_error(
                "a channel mask has the wrong form",
                where=f"mask {name!r}",
                seen=seen(ranges) if rows is None else f"{rows.dtype} of shape {rows.shape}",
                expected="integers (n, 3): channel, begin tick, end tick",
            )
        require_32_bits(rows, f"mask {name!r}")
        found[name] = [tuple(row) for row in rows.reshape(-1, 3).tolist()]
    return found


def require_32_bits(numbers: np.ndarray, where: str) -> None:
    """Raise spng.Error if an integer does not fit into 32 bits."""
    if numbers.size:
        low, high = int(numbers.min()), int(numbers.max())
        if low < -(2**31) or high >= 2**31:
            value = high if high >= 2**31 else low
            raise input_error(
                "a number is too large", where=where, seen=str(value), expected="integers of 32 bits"
            )


def at_least(lowest: int, value: int, name: str) -> int:
    """Return an argument. Raise spng.Error if it is too small."""
    if value < lowest:
        raise Error("Usage", "an argument is too small", f"argument {name}", str(value), f"{lowest} or more")
    return value


def arguments_of(arguments: Mapping[str, Any], reserved: Mapping[str, str] = {}) -> dict[str, str]:
    """Return further arguments of a job as text. Raise spng.Error for those that are parameters or have other types."""
    for name, value in arguments.items():
        if name in PARAMETERS:
            other = PARAMETERS[name]
            raise Error(
                "Usage",
                "an argument of the job has another name in Python",
                f"argument {name}",
                f"{name}={value!r}",
                f"{other}={value!r}",
                f"use {other}={value!r}",
            )
        if name in reserved:
            raise Error(
                "Usage",
                "this argument cannot be chosen",
                f"argument {name}",
                seen(value),
                hint=reserved[name],
            )
    return {name: _argument_text(name, value) for name, value in arguments.items()}


def _argument_text(name: str, value: Any) -> str:
    """Return an argument as a job reads it: True as "true", a list with commas."""
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(_argument_text(name, each) for each in value)
    text = os.fspath(value) if isinstance(value, os.PathLike) else value
    if isinstance(text, (int, float)) or isinstance(text, str) and is_path(text):
        return str(text)
    raise Error(
        "Usage",
        "an argument has the wrong type or value",
        f"argument {name}",
        seen(value),
        "text, a number, True, False, a path, or a list of them",
        "leave the argument out to get its default" if value is None else "",
    )


def json_text(value: Any) -> str:
    """Return the value of a key as JSON; NumPy numbers and arrays are accepted. Raise spng.Error for another type."""
    return json.dumps(value, default=_plain)


def _plain(value: Any) -> Any:
    require_whole_array(value, "the value of a key")
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise input_error(
        "the value of a key cannot be written as JSON",
        seen=f"{value!r} of type {type(value).__name__}",
        expected="a number, a string, True, False, or lists of them",
    )
