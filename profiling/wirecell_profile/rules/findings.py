# SPDX-License-Identifier: Apache-2.0
"""Findings: the hits of a rule by range, with the commands to run next."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..model.selection import Scope
from . import Found, Hit, Limits, Rule, apply
from .next_commands import next_commands
from .source_search import Sources, find_checkout


@dataclass
class Finding:
    """Hits of a rule, ready to be shown."""

    rule: Rule
    found: Found
    ranges: list[dict]  # per range name: count of hits, lost time, and the source line that opens the range
    top: list[dict]  # the most expensive hits
    commands: list[str]


def make_finding(scope: Scope, rule: Rule, found: Found, sources: Sources | None, rows: int) -> Finding:
    """Summarise the hits of a rule in at most `rows` ranges and hits.

    `sources`: files to search for the ranges.
    """
    ranges = scope.projection.ranges

    def name(hit: Hit) -> str:
        return ranges.folded.text(hit.range_row) if hit.range_row >= 0 else ""

    by_range: dict[str, list[Hit]] = {}
    for hit in found.hits:
        by_range.setdefault(name(hit), []).append(hit)
    ordered = sorted(by_range.items(), key=lambda pair: -sum(hit.duration for hit in pair[1]))
    by_time = []
    for text, hits in ordered:
        file = sources.location(ranges.text.text(hits[0].range_row)) if sources and text else ""
        by_time.append(
            {"range": text, "places": len(hits), "time_ns": sum(hit.duration for hit in hits), "file": file}
        )
    top = [
        {
            "duration_ns": hit.duration,
            "start_ns": hit.start,
            "what": hit.what,
            "range": name(hit),
            "note": hit.note,
        }
        for hit in found.hits[:rows]
    ]
    worst = ordered[0][1][0]
    return Finding(rule, found, by_time[:rows], top, next_commands(scope, rule.next_tool, worst, sources))


@dataclass
class Findings:
    """Outcome of rules."""

    found: list[Finding]
    clean: list[str]  # names of rules without a finding
    missing: dict[str, str]  # rule -> data that the file lacks for it


def find_all(
    scope: Scope, rules: list[Rule], limits: Limits, rows: int, folder: Path | None = None
) -> Findings:
    """Apply rules. `folder`: checkout to search for the ranges, by default the one of the working folder."""
    folder = folder or find_checkout(Path.cwd())
    sources = Sources(folder) if folder else None
    found, missing = apply(scope, rules, limits)
    return Findings(
        [make_finding(scope, rule, of_rule, sources, rows) for rule, of_rule in found if of_rule.hits],
        [rule.name for rule, of_rule in found if not of_rule.hits],
        missing,
    )
