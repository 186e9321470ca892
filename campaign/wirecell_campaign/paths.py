"""Paths that wire-cell cannot work with, found before anything starts."""

from __future__ import annotations

import os
from pathlib import Path

from .errors import WrongUse

ANODE = "%d"  # in the names of inputs and outputs, the place of the anode's number
LINK = "rename it, or give a link to this very file or folder"


def require_usable(path: Path, what: str, where: str) -> None:
    """WrongUse for an absolute path that is not UTF-8 or has the place of the anode's number. `what` has this path."""
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        shown = os.fsencode(path).decode("utf-8", "backslashreplace")
        raise WrongUse(
            f"the path of {what} is not UTF-8", where, shown, "UTF-8, for wire-cell reads no other", LINK
        ) from None
    if ANODE in str(path):
        expected = f"a path without it, for wire-cell takes {ANODE} for the anode's number"
        raise WrongUse(f"the path of {what} contains {ANODE}", where, str(path), expected, LINK)
