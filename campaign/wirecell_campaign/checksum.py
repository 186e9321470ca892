"""What a file is: size, time of modification and SHA-256 of its content."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path


def sha256(path: Path) -> str:
    """Of the whole content, as hexadecimal digits. OSError when it cannot be read to its end."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def identity(path: Path) -> dict:
    """Size and modification time. Times are compared for equality only, so clocks need not agree."""
    state = os.stat(path)
    return {"size": state.st_size, "mtime_ns": state.st_mtime_ns}


def described(path: Path) -> dict:
    """identity() and the checksum."""
    return identity(path) | {"sha256": sha256(path)}


def is_same(path: Path, expected: dict, quick: bool = False) -> bool:
    """Whether the file is what `expected` (as of described()) says. quick: by size and time, when both agree.
    False for an absent file; other OSErrors are raised."""
    try:
        seen = identity(path)
        if seen["size"] != expected["size"]:
            return False
        return (quick and seen["mtime_ns"] == expected["mtime_ns"]) or sha256(path) == expected["sha256"]
    except FileNotFoundError:
        return False
