# SPDX-License-Identifier: Apache-2.0
"""Identity of a file: size, modification time and SHA-256 of its content."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from pathlib import Path


def require_regular(path: Path) -> None:
    """Raise OSError unless the path is a regular file. A pipe or device would keep its reader waiting, or never end."""
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode):
        reason = os.strerror(errno.EISDIR) if stat.S_ISDIR(mode) else "it is no regular file"
        raise OSError(errno.EISDIR, reason, str(path))


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file as hexadecimal digits. Raise OSError if it cannot be read to its end."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def identity(path: Path) -> dict:
    """Return size and modification time. Compare times only for equality: clocks of machines may differ."""
    state = os.stat(path)
    return {"size": state.st_size, "mtime_ns": state.st_mtime_ns}


def state_of_input(path: Path) -> dict:
    """Return identity() and the time of the last change of the file's state, which no program can set.

    A link to the file changes it too, so that it is of no use for outputs.
    """
    return identity(path) | {"ctime_ns": os.stat(path).st_ctime_ns}


def described(path: Path) -> dict:
    """Return identity() and the checksum."""
    return identity(path) | {"sha256": sha256(path)}


def is_same(path: Path, expected: dict, quick: bool = False) -> bool:
    """Tell whether the file equals `expected`, a result of described(). quick: equal size and time are enough.

    Return False for an absent file; raise other OSErrors.
    """
    try:
        seen = identity(path)
        if seen["size"] != expected["size"]:
            return False
        return (quick and seen["mtime_ns"] == expected["mtime_ns"]) or sha256(path) == expected["sha256"]
    except FileNotFoundError:
        return False


def is_input_same(path: Path, expected: dict, quick: bool = False) -> bool:
    """Tell whether an input equals `expected`, a state_of_input() with checksum. quick: equal size and time are enough.

    Without `quick`, read the file unless its state was not changed since. Raise OSError, also for an absent file.
    """
    is_untouched = os.stat(path).st_ctime_ns == expected.get("ctime_ns")
    return is_same(path, expected, quick or is_untouched)
