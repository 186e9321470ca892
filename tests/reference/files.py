# SPDX-License-Identifier: Apache-2.0
"""Open detector files, which are compressed in one of two ways."""

from __future__ import annotations

import bz2
import gzip
import io
from pathlib import Path


def opened(path: str | Path) -> io.BufferedIOBase:
    """Open a file .json.gz or .json.bz2."""
    return gzip.open(path) if str(path).endswith(".gz") else bz2.open(path)
