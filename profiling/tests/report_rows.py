# SPDX-License-Identifier: Apache-2.0
"""Cells of a report, for tests."""

from __future__ import annotations

import csv
import io

from wirecell_profile.model.selection import Scope
from wirecell_profile.output import as_csv
from wirecell_profile.reports import find


def rows(scope: Scope, text: str, *columns: str) -> list[list[str]]:
    """Return a report's cells as in CSV; some columns or all."""
    report, options = find(text)
    head, *body = csv.reader(io.StringIO(as_csv(report.run(scope, options))))
    chosen = [head.index(column) for column in columns] or range(len(head))
    return [[row[i] for i in chosen] for row in body]
