# SPDX-License-Identifier: Apache-2.0
"""A display of progress: the bar of tqdm, else a line on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sized
from typing import TypeVar

Item = TypeVar("Item")

SECONDS_BETWEEN_LINES = 10.0  # in a log, where no line can be overwritten


def with_bar(items: Iterable[Item]) -> Iterable[Item]:
    """Return the items of an iterable, and show how many were taken."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _with_lines(items)
    return tqdm(items, unit="event")


def _with_lines(items: Iterable[Item]) -> Iterator[Item]:
    total = f" of {len(items)}" if isinstance(items, Sized) else ""
    is_overwritten = sys.stderr.isatty() or "ipykernel" in sys.modules
    start = last = time.monotonic()
    count = 0

    def show(end: str) -> None:
        sys.stderr.write(f"{count}{total} events in {time.monotonic() - start:.0f} s{end}")
        sys.stderr.flush()

    for item in items:
        yield item
        count += 1
        if is_overwritten:
            show("\r")
        elif time.monotonic() - last > SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            show("\n")
    show("\n")
