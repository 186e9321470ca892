# SPDX-License-Identifier: Apache-2.0
"""Warnings of the program about one file: those of its timing report, and those in its log."""

from __future__ import annotations

import re

from wirecell_profile.terminal import visible

LOG_LINE = re.compile(r"^\[\d\d:\d\d:\d\d\.\d+\] W \[ .*? \] (.+)$", re.MULTILINE)
MOST = 50  # warnings that are kept of one file


def of_file(reported: list[str], said: str, doubtful: int = 0, events: int = 0) -> list[str]:
    """Return each warning once, and how many of several events have warnings.

    reported: by the timing report, which has the warnings of the input check; said: the messages about the file, which have
    also those of other parts, such as the network's.
    """
    found = list(dict.fromkeys(reported))
    for text in dict.fromkeys(LOG_LINE.findall(said)):
        if not any(text in known or known in text for known in reported):
            found.append(text)
    if doubtful and events > 1:
        found.insert(0, f"{doubtful} of {events} events have warnings")
    more = len(found) - MOST
    return [*found[:MOST], f"and {more} more warnings"] if more > 0 else found


def as_lines(warnings: dict[str, list[str]]) -> list[str]:
    """Return the warnings by the name of the output, as text."""
    return [
        line
        for name, lines in warnings.items()
        for line in (f"\n{visible(name)}", *(f"  {visible(text)}" for text in lines))
    ]
