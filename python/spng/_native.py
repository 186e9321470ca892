# SPDX-License-Identifier: Apache-2.0
"""Find the native module: beside this file in a wheel, in the build folder of a checkout."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).parent
BUILD = Path(os.environ.get("SPNG_BUILD", FOLDER.parents[1] / "build"))


def load() -> ModuleType:
    """Return spng._core. Raise ImportError with a hint if it was not built or does not load."""
    package = importlib.import_module("spng")
    package.__path__.append(str(BUILD / "python" / "spng"))
    try:
        return importlib.import_module("spng._core")
    except ImportError as failure:
        raise ImportError(
            "error: the native part of spng does not load\n"
            f"  seen:     {failure}\n"
            f"  expected: _core in {FOLDER} or {BUILD / 'python' / 'spng'}\n"
            "  hint:     build it: ./wcb --notests"
        ) from failure


_core = load()
