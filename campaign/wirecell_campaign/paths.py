# SPDX-License-Identifier: Apache-2.0
"""Check of paths that wire-cell cannot use."""

from __future__ import annotations

import os
from pathlib import Path

from .errors import UsageError

ANODE = "%d"  # wire-cell replaces it in names of inputs and outputs by the anode's id
LINK = "rename it, or give a link to this file or folder"


def require_usable(path: Path, what: str, where: str) -> None:
    """Raise UsageError for an absolute path that is not UTF-8 or contains %d. what: the owner of the path, for the error."""
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        shown = os.fsencode(path).decode("utf-8", "backslashreplace")
        raise UsageError(
            f"the path of {what} is not UTF-8",
            where,
            shown,
            "UTF-8, the only encoding that wire-cell reads",
            LINK,
        ) from None
    if ANODE in str(path):
        expected = f"a path without it, because wire-cell replaces {ANODE} by the anode's id"
        raise UsageError(f"the path of {what} contains {ANODE}", where, str(path), expected, LINK)
