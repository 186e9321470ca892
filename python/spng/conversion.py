# SPDX-License-Identifier: Apache-2.0
"""Masks and arguments for the native module."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from .errors import input_error


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


def json_text(value: Any) -> str:
    """Return the value of a key as JSON; NumPy numbers and arrays are accepted. Raise spng.Error for another type."""
    return json.dumps(value, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise input_error(
        "the value of a key cannot be written as JSON",
        seen=f"{value!r} of type {type(value).__name__}",
        expected="a number, a string, True, False, or lists of them",
    )
