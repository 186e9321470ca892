# SPDX-License-Identifier: Apache-2.0
"""The page of a profile: timeline, tiles, charts, findings, tables, and the list of missing data.

The page is self-contained. Data that the file lacks are listed as missing, never shown as zero.
"""

from __future__ import annotations

from ..model.selection import Scope
from ..model.window import find_window
from ..output import by_reason
from ..palette import PALETTE
from ..path_names import shell_word
from ..rules import Limits, all_rules
from ..rules.findings import find_all
from ..tables.sections import SECTIONS
from . import overview
from .counters import make_counters
from .flame import flame_graph
from .payload import encode
from .render import render
from .tables import page_table
from .timeline import COPY_COLOURS, WAIT_COLOUR, Timeline, make_timeline

MAX_RANGES = 5  # per finding
COPY_DIRECTIONS = {
    1: "copy to the device",
    2: "copy to the host",
    8: "copy within the device",
    10: "copy between devices",
}


def html_page(scope: Scope) -> str:
    """Return the page. Raise MissingData if the file has no events."""
    scope.profile.read_events()
    window = find_window(scope)
    tables, absent = scope.make_all({name: section.run for name, section in SECTIONS.items()})
    missing = {f'table "{SECTIONS[name].about}"': reason for name, reason in absent.items()}
    timeline, counters = make_timeline(scope), make_counters(scope, window)
    missing |= {f"timeline: {rows}": reason for rows, reason in timeline.missing.items()}
    findings = find_all(scope, list(all_rules().values()), Limits(), MAX_RANGES)
    return render(
        "profile.html",
        title=overview.title(scope.profile),
        subtitle=overview.subtitle(scope, window),
        tiles=overview.tiles(scope, window, tables),
        file=shell_word(scope.profile.path.name),
        timeline=timeline,
        legend=_legend(timeline),
        charts=overview.charts(scope, window, tables),
        wide_charts=flame_graph(scope, window, overview.colours(scope)),
        findings=findings,
        missing_rules=by_reason(findings.missing),
        tables=[(SECTIONS[name], page_table(result, name)) for name, result in tables.items()],
        manifest=overview.manifest(scope.profile),
        missing=by_reason(missing) | dict.fromkeys(scope.profile.doubts, ["the file"]),
        recorded=scope.profile.recorded_parts,
        data=encode(timeline, counters, window),
    )


def _legend(timeline: Timeline) -> list[tuple[str, str]]:
    """Return (meaning, colour) of the used colours."""
    used = set(timeline.colours)
    named = [(kind, colour) for kind, colour in PALETTE.items() if kind != "other"]
    named += [(COPY_DIRECTIONS[kind], colour) for kind, colour in COPY_COLOURS.items()]
    named.append(("API call that waits", WAIT_COLOUR))
    return [(meaning, colour) for meaning, colour in named if colour in used]
