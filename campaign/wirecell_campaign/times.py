# SPDX-License-Identifier: Apache-2.0
"""Times on the command line: one form for all options and clusters."""

from __future__ import annotations

import argparse
import math
import re

UNITS = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?", re.ASCII)
CLOCK = re.compile(r"(?:(\d+)-)?(\d+):([0-5]\d):([0-5]\d)", re.ASCII)
SECONDS = re.compile(r"\d+(?:\.\d+)?|\.\d+", re.ASCII)
SIZES = (86400, 3600, 60, 1)  # s in a day, hour, minute, second
FORMS = "seconds, 8h, 30m, 1d12h, 08:00:00 or 1-12:00:00"


def seconds(word: str) -> float:
    """Parse a time above 0 in one of FORMS [s]. A form that clusters understand differently, such as 10:00, is rejected."""
    value = float(word) if SECONDS.fullmatch(word) else 0.0
    if found := UNITS.fullmatch(word) or CLOCK.fullmatch(word):
        value = float(sum(size * int(part or 0) for size, part in zip(SIZES, found.groups())))
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"'{word}' is no time above 0; expected {FORMS}")
    return value


def clock(span: float) -> str:
    """Return a time [s] as hours:minutes:seconds, rounded up."""
    minutes, rest = divmod(math.ceil(span), 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:{rest:02}"
