"""What the expert rules found, for the page."""

from __future__ import annotations

from html import escape
from pathlib import Path

from ..errors import MissingData
from ..model.selection import Scope
from ..rules import Limits, all_rules
from ..rules.findings import Finding, make_finding
from ..rules.source_search import Sources, find_checkout
from .charts import time_text
from .tables import reasons

MOST_PLACES = 5


def html_findings(scope: Scope) -> str:
    """Findings with advice, places and the next command; then the rules that found nothing or could not look."""
    folder = find_checkout(Path.cwd())
    sources = Sources(folder) if folder else None
    parts, clean, missing = [], [], {}
    for rule in all_rules().values():
        try:
            found = rule.run(scope, Limits())
        except MissingData as error:
            missing[rule.name] = error.what
            continue
        if found.hits:
            parts.append(_one(make_finding(scope, rule, found, sources, MOST_PLACES)))
        else:
            clean.append(rule.name)
    if clean:
        parts.append(f"<p>Nothing found by: {escape(', '.join(clean))}.</p>")
    if missing:
        parts.append('<p class="about">Rules that could not look:</p>' + reasons(missing))
    return "".join(parts)


def _one(finding: Finding) -> str:
    rule, found = finding.rule, finding.found
    places = "".join(
        f"<li>{escape(place['range'] or '(no range)')}: {places_text(place['places'])}, {time_text(place['time_ns'])}"
        f"{' · ' + escape(place['file']) if place['file'] else ''}</li>"
        for place in finding.places
    )
    commands = escape("\n".join(finding.commands))
    return (
        f'<div class="finding"><b>{escape(rule.about[:1].upper() + rule.about[1:])}: {places_text(len(found.hits))}, '
        f"{time_text(found.total)} ({escape(rule.name)})</b>{escape(rule.advice)}<ul>{places}</ul>"
        f"<details><summary>What to run next</summary><pre>{commands}</pre></details></div>"
    )


def places_text(count: int) -> str:
    """How many places."""
    return f"{count:,} place{'' if count == 1 else 's'}"
