# SPDX-License-Identifier: Apache-2.0
"""Detector files: JSON, compressed by gzip or bzip2."""

from __future__ import annotations

import bz2
import gzip
import json
from pathlib import Path
from typing import Any


def read_json(path: str | Path) -> Any:
    """Return the document in a .json.gz or .json.bz2 file."""
    content = Path(path).read_bytes()
    return json.loads(gzip.decompress(content) if Path(path).suffix == ".gz" else bz2.decompress(content))
