# SPDX-License-Identifier: Apache-2.0
"""The chart of the time before the first node call."""

from __future__ import annotations

from ..output import Result
from ..palette import PALETTE
from ..tables.start_up import OTHER, TOTAL
from ..units import time_text
from .charts import Bar, Chart, bar_chart

MAX_BARS = 15


def start_up_chart(table: Result | None) -> list[Chart]:
    """Return the chart of the longest phases, in the order of time; none without the table."""
    if table is None:
        return []
    totals = [time_text(time) for name, time, *_ in table.rows if name.endswith(TOTAL)]
    parts = [(name, time) for name, time, *_ in table.rows if not name.endswith(TOTAL)]
    shown = sorted(parts, key=lambda part: -part[1])[:MAX_BARS]
    bars = [
        Bar(name.strip(), time, PALETTE["plumbing" if name.endswith(OTHER) else "service"])
        for name, time in parts
        if (name, time) in shown
    ]
    more = len(parts) - len(shown)
    caption = f"{', '.join(totals)} {TOTAL}, in the order of time; each phase without those inside it."
    caption += f" The {len(bars)} longest; {more} more in the table." if more else ""
    return [Chart("Start-up", caption, bar_chart(bars, "time per phase of the start-up"))]
