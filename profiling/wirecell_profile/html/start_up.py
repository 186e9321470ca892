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
    totals = [time_text(row["Time (ns)"]) for row in table.records() if row["Phase"].endswith(TOTAL)]
    parts = [row for row in table.records() if not row["Phase"].endswith(TOTAL)]
    shown = sorted(parts, key=lambda row: -row["Time (ns)"])[:MAX_BARS]
    bars = [
        Bar(
            row["Phase"].strip(),
            row["Time (ns)"],
            PALETTE["plumbing" if row["Phase"].endswith(OTHER) else "service"],
        )
        for row in parts
        if row in shown
    ]
    more = len(parts) - len(shown)
    caption = f"{', '.join(totals)} {TOTAL}, in the order of time; each phase without those inside it."
    caption += f" The {len(bars)} longest; {more} more in the table." if more else ""
    return [Chart("Start-up", caption, bar_chart(bars, "time per phase of the start-up"))]
