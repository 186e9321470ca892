# SPDX-License-Identifier: Apache-2.0
"""A study of real data: its jobs and measures in one function, its limits, and what it found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from scripts.output import Table
from spng import Error

from ..program import JobFailed
from .bars import Limit, bar
from .datasets import DataMissing, Folder
from .jobs import Jobs
from .pictures import Gallery


@dataclass(frozen=True)
class Context:
    """Data, jobs and the folder of pictures of a run."""

    folder: Folder
    jobs: Jobs
    gallery: Gallery


@dataclass
class Findings:
    """The results of a study. values: by key of its limits; pictures: file name and caption; problems: jobs that failed."""

    values: dict[str, float] = field(default_factory=dict)
    tables: list[Table] = field(default_factory=list)
    pictures: list[tuple[str, str]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Study:
    """One part of the page. run: adds to the findings and raises DataMissing, JobFailed or spng.Error where it cannot go on."""

    name: str
    title: str
    text: tuple[str, ...]
    limits: tuple[Limit, ...]
    run: Callable[[Context, Findings], None]


def first_lines(problem: Exception, count: int = 3) -> str:
    """Return the reason of a failure in one line."""
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    useful = lines[1:] if lines and lines[0].startswith("wire-cell ") else lines
    useful = [line for line in useful if not line.startswith("ended with")]
    return "; ".join(useful[:count])


def result_of(study: Study, context: Context) -> dict[str, Any]:
    """Run a study; return its part of the JSON file."""
    found = Findings()
    try:
        study.run(context, found)
    except (DataMissing, JobFailed, Error) as problem:
        found.problems.append(first_lines(problem))
    reason = found.problems[-1] if found.problems else "no value"
    return {
        "title": study.title,
        "text": list(study.text),
        "values": found.values,
        "tables": [vars(table) for table in found.tables],
        "pictures": [{"file": name, "caption": caption} for name, caption in found.pictures],
        "problems": found.problems,
        "bars": [
            bar(study.name, limit, found.values.get(limit.key), reason)
            for limit in study.limits
            if limit.key in found.values or not limit.is_optional
        ],
    }
