# SPDX-License-Identifier: Apache-2.0
"""Names of files as text. A path may be any bytes; pages, JSON and databases hold only UTF-8."""

from __future__ import annotations

import os
import shlex
from pathlib import Path


def readable(path: str | Path) -> str:
    """Return the path as valid text: bytes that are not UTF-8 become \\xNN."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def shell_word(path: str | Path) -> str:
    """Return the path as one word of a bash command, as valid text."""
    name = os.fspath(path)
    if readable(name).encode() == os.fsencode(name):
        return shlex.quote(readable(name))
    escaped = name.replace("\\", "\\\\").replace("'", "\\'")
    return f"$'{readable(escaped)}'"
