# SPDX-License-Identifier: Apache-2.0
"""Checksums of the parts of events in HDF5 and Zarr files, which have none of their own for small arrays and attributes.

docs/frame-files.md says how they are made. Each event lists those of its members, and the file those of the lists.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import Error

DAMAGED = "the file is damaged, or was changed"
HINT = (
    "copy or write the file again; after a change that is wanted, delete the checksums (docs/frame-files.md)"
)


def checksum(name: str, array: np.ndarray) -> int:
    """Return the CRC-32 of a member: its name, type and shape as text, and its numbers."""
    numbers = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    head = f"{name} {numbers.dtype.str} {'x'.join(map(str, array.shape))}\n"
    return zlib.crc32(numbers.reshape(-1).view(np.uint8).data, zlib.crc32(head.encode()))


def list_checksum(ident: int, checksums: Mapping[str, int]) -> int:
    """Return the CRC-32 of the list of an event."""
    return zlib.crc32(f"{ident} {json.dumps(checksums)}".encode())


def require_list(where: str, checksums: Any) -> dict[str, int]:
    """Return a list of checksums. Raise Error if it is damaged."""
    if not isinstance(checksums, dict) or not all(isinstance(value, int) for value in checksums.values()):
        raise Error("Input", DAMAGED, where, "a list of checksums without numbers", hint=HINT)
    return checksums


def checked_list(where: str, ident: int, checksums: Any, expected: int | None) -> dict[str, int] | None:
    """Return the list of an event; None if it has none.

    expected: its checksum, None if the file has none. Raise Error if the list is damaged or absent.
    """
    if checksums is None and expected is None:
        return None
    if expected is not None and (checksums is None or list_checksum(ident, checksums) != expected):
        raise Error("Input", DAMAGED, where, "no list of checksums, or another one", "that of the file", HINT)
    return require_list(where, checksums)


def require_members(where: str, found: list[str], listed: list[str]) -> None:
    """Raise Error if an event has other members than its list."""
    if absent := sorted(set(listed) - set(found)):
        raise Error(
            "Input", DAMAGED, where, f"no {', '.join(absent)}", "the members of the list of checksums", HINT
        )
    if more := sorted(set(found) - set(listed)):
        raise Error(
            "Input", DAMAGED, where, ", ".join(more), f"{', '.join(listed)}, as listed with checksums", HINT
        )


def require_checksum(where: str, array: np.ndarray, name: str, expected: int) -> None:
    """Raise Error if a member has another checksum."""
    is_number = array.dtype.kind in "biuf"
    if not is_number or checksum(name, array) != expected:
        seen = f"{checksum(name, array):08x}" if is_number else f"values of type {array.dtype}"
        raise Error("Input", DAMAGED, where, f"checksum {seen}", f"{expected:08x}", HINT)
