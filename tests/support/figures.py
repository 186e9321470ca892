# SPDX-License-Identifier: Apache-2.0
"""Figures that tests measure on their way to an assertion, for the table of docs/reliability.md."""

from __future__ import annotations

import json
import os

FILE = "SPNG_TEST_FIGURES"  # variable with the file that collects them


def note(name: str, value: float) -> None:
    """Add a line to the file: the running test, the figure's name and its value. Do nothing without the variable."""
    path = os.environ.get(FILE)
    if path:
        test = os.environ.get("PYTEST_CURRENT_TEST", "").removesuffix(" (call)")
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps({"test": test, "name": name, "value": float(value)}) + "\n")
