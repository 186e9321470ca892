# SPDX-License-Identifier: Apache-2.0
"""Names of files as text. A path may be any bytes; pages, JSON and databases hold only UTF-8."""

from __future__ import annotations

import os
import re
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


def url_hint(path: str | Path) -> str:
    """Return the hint for a file that cannot be used and whose name is a URL such as root://server/file, else nothing.

    Path makes one slash of two, and lists put their folder before it; as in spng/core/files/url.cxx.
    """
    is_url = re.search(r"(^|/)[A-Za-z][A-Za-z0-9+.-]+:/", os.fspath(path))
    return "this is a URL, and files must be local: copy it, or mount its file system" if is_url else ""
