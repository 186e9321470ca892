# SPDX-License-Identifier: Apache-2.0
"""Names of files in UTF-8, whatever the locale says: bookkeeping of one locale must be read in another."""

from __future__ import annotations

import os
import sys


def require() -> None:
    """Start this command again in Python's UTF-8 mode, with all programs that it starts, unless names are UTF-8 already."""
    if sys.getfilesystemencoding() != "utf-8":
        os.environ["PYTHONUTF8"] = "1"
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])
