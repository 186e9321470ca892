# SPDX-License-Identifier: Apache-2.0
"""Load of the machine by other programs during a measurement, from /proc. A time means little without it."""

from __future__ import annotations

import os
import resource
import time
from dataclasses import dataclass
from pathlib import Path

# Columns of the first line of /proc/stat: times in which a core was busy, and time stolen by the host of a virtual machine.
BUSY_COLUMNS = (0, 1, 2, 5, 6)
STOLEN_COLUMN = 7


@dataclass(frozen=True)
class Moment:
    """Readings at one time; seconds of all cores together."""

    wall: float
    busy: float
    stolen: float
    own: float


@dataclass(frozen=True)
class Load:
    """Average between two moments [cores]: used by other programs, and stolen by the host."""

    others: float
    stolen: float
    average: float  # the load average of one minute at the end

    def text(self) -> str:
        """Return the load as text."""
        return (
            f"other programs kept {self.others:.1f} cores busy, {self.stolen:.1f} were stolen by the host, "
            f"load average {self.average:.1f}"
        )


def now() -> Moment:
    """Read the counters of the machine and of our finished child processes."""
    columns = [
        int(word) for word in Path("/proc/stat").read_text(encoding="utf-8").split("\n", 1)[0].split()[1:]
    ]
    second = os.sysconf("SC_CLK_TCK")
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return Moment(
        time.monotonic(),
        sum(columns[i] for i in BUSY_COLUMNS) / second,
        columns[STOLEN_COLUMN] / second,
        sum(usage.ru_utime + usage.ru_stime for usage in usages),
    )


def since(start: Moment) -> Load:
    """Return the load between `start` and now; our children must have ended."""
    end = now()
    wall = max(end.wall - start.wall, 1e-3)
    others = (end.busy - start.busy) - (end.own - start.own)
    return Load(max(others, 0.0) / wall, (end.stolen - start.stolen) / wall, os.getloadavg()[0])
