# SPDX-License-Identifier: Apache-2.0
"""Results of rows as JSON files: one a row, so that rows may be measured in several runs."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

from scripts.output import Table, write

SCHEMA = "spng-reliability-1"


@dataclass(frozen=True)
class Result:
    """A measured row. Each has the date, commit and setting of its own measurement."""

    row: str
    figure: str
    verdict: str
    gap: str
    note: str
    command: str
    date: str
    commit: str
    program: str
    machine: str
    load: str
    processor_s: float
    wall_s: float
    is_quick: bool
    tables: list[Table] = field(default_factory=list)


def save(folder: Path, result: Result) -> None:
    """Write the result of a row."""
    text = json.dumps({"schema": SCHEMA, **asdict(result)}, indent=1, ensure_ascii=False)
    write(folder / f"{result.row}.json", text + "\n")


def load(folder: Path) -> dict[str, Result]:
    """Return the results in a folder by row."""
    found = {}
    for path in folder.glob("R*.json"):
        content = json.loads(path.read_text(encoding="utf-8"))
        if content.pop("schema", None) == SCHEMA:
            content["tables"] = [Table(**table) for table in content["tables"]]
            found[content["row"]] = Result(**content)
    return found
