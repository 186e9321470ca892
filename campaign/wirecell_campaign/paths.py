# SPDX-License-Identifier: Apache-2.0
"""Checks of paths. They are bytes, which Python keeps in strings."""

from __future__ import annotations

from pathlib import Path

from .errors import UsageError

ANODE = "%d"  # wire-cell replaces it in names of inputs and outputs by the anode's id
LINK = "rename it, or give a link to this file or folder"


def is_utf8(path: str) -> bool:
    """Tell whether the bytes of a path are UTF-8."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def require_usable(path: Path, what: str, where: str) -> None:
    """Raise UsageError for a path that contains %d. what: the owner of the path, for the error."""
    if ANODE in str(path):
        expected = f"a path without it, because wire-cell replaces {ANODE} by the anode's id"
        raise UsageError(f"the path of {what} contains {ANODE}", where, str(path), expected, LINK)
