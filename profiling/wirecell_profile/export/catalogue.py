# SPDX-License-Identifier: Apache-2.0
"""All tables of a profile by name, for `export`."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from ..errors import MissingData
from ..model.profile import Profile
from ..model.selection import Scope
from ..output import Column, Result, table_of
from ..reports import all_reports
from ..rules import Limits, all_rules, apply
from ..tables import memory_use
from ..tables.sections import SECTIONS
from ..tables.timeline import timeline

Maker = Callable[[Scope], Result]
FILE_NAME = re.compile(r"[\w.$ -]{1,100}")


def all_tables() -> dict[str, Maker]:
    """Return name -> maker of nsys's reports, the tables of `summary`, all points of memory, the timeline, and
    hits of the rules."""
    tables: dict[str, Maker] = {name: partial(_report, report.run) for name, report in all_reports().items()}
    tables |= {f"summary_{name.replace('-', '_')}": section.run for name, section in SECTIONS.items()}
    tables |= {
        "memory_timeline": memory_use.timeline,
        "timeline": timeline,
        "rules": rule_hits,
    }
    return tables


def _report(run: Callable, scope: Scope) -> Result:
    return run(scope, frozenset())


def rule_hits(scope: Scope) -> Result:
    """Return all hits of all applicable rules. Raise MissingData if no rule applies."""
    ranges = scope.projection.ranges
    applied, _ = apply(scope, all_rules().values(), Limits())
    if not applied:
        raise scope.profile.missing("CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL")
    return table_of(
        [(rule, hit) for rule, found in applied for hit in found.hits],
        {
            "Rule": lambda pair: pair[0].name,
            "Start (ns)": lambda pair: pair[1].start,
            "Duration (ns)": lambda pair: pair[1].duration,
            "What": lambda pair: pair[1].what,
            "Range": lambda pair: ranges.name.text(pair[1].range_row) if pair[1].range_row >= 0 else None,
            "Notes": lambda pair: pair[1].note or None,
        },
    )


def raw_tables(profile: Profile) -> dict[str, Maker]:
    """Return the file's own tables unchanged as raw_NAME. Ids of StringIds stay ids."""
    return {
        f"raw_{name}": partial(_raw, name)
        for name in sorted(profile.tables)
        if not name.startswith("sqlite_")
    }


def _raw(name: str, scope: Scope) -> Result:
    if not FILE_NAME.fullmatch(name):
        raise MissingData("the name of this table cannot be that of a file")
    rows, names = scope.profile.rows(name)
    if not rows:
        raise scope.profile.missing(name)
    return Result([Column(text, 9) for text in names], rows)
