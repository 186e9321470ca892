# SPDX-License-Identifier: Apache-2.0
"""Findings of the expert rules for the profile page."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ..errors import MissingData
from ..model.selection import Scope
from ..rules import Limits, all_rules
from ..rules.findings import Finding, make_finding
from ..rules.source_search import Sources, find_checkout

MAX_RANGES = 5  # per finding


@dataclass
class Findings:
    """Outcome of all rules with their default limits."""

    found: list[Finding] = field(default_factory=list)
    clean: list[str] = field(default_factory=list)  # names of rules without a finding
    missing: dict[str, str] = field(default_factory=dict)  # rule -> data that the file lacks for it


def find_all(scope: Scope) -> Findings:
    """Apply all rules."""
    folder = find_checkout(Path.cwd())
    sources = Sources(folder) if folder else None
    findings = Findings()
    for rule in all_rules().values():
        try:
            found = rule.run(scope, Limits())
        except MissingData as error:
            findings.missing[rule.name] = error.what
            continue
        if found.hits:
            findings.found.append(make_finding(scope, rule, found, sources, MAX_RANGES))
        else:
            findings.clean.append(rule.name)
    return findings
