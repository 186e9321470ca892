# SPDX-License-Identifier: Apache-2.0
"""Figures that tests measure on their way to an assertion: properties in pytest's report, for docs/reliability.md."""

from __future__ import annotations

running: list[tuple[str, object]] = []  # properties of the running test, which tests/conftest.py sets


def note(name: str, value: float | str) -> None:
    """Add a figure to the running test."""
    running.append((name, value if isinstance(value, str) else float(value)))
