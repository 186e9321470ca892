# SPDX-License-Identifier: Apache-2.0
"""Results over commits: an appended line of JSON per commit and series, and the steps in them.

A line is {"schema": "spng-history-1", "commit", "commit_time", "time", "series", "conditions", "runs",
"metric": {node: ns}}. Lines whose conditions differ (machine, settings, input) belong to different series and
are never compared.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from ..errors import ProfileError, UsageError, system_error
from . import statistics
from .measurements import Run
from .step_detection import pieces
from .time_rows import steady

SCHEMA = "spng-history-1"
METRICS = ("wall", "cpu", "device")
TYPES: dict[str, type | tuple[type, ...]] = {
    "series": str,
    "commit": str,
    "commit_time": (int, type(None)),
    "time": str,
    "conditions": dict,
    "runs": int,
}
LONGEST = 1e18  # ns


@dataclass(frozen=True)
class Step:
    """A lasting change of a node's time."""

    series: str
    metric: str
    node: str
    commit: str  # first commit at the new level
    before: str  # last measured commit at the old level
    old: float  # ns
    new: float
    index: int  # position of the first entry at the new level in the series

    @property
    def change(self) -> float:
        """Relative change."""
        return self.new / self.old - 1

    def json(self) -> dict:
        """Return the step as JSON values."""
        values = asdict(self)
        values["place"] = values.pop("index")
        return values | {"change": self.change}


def entry(runs: list[Run], repository: Path, warm_up: int) -> dict:
    """Make the line for the runs of one commit. Raise UsageError if commits or conditions differ."""
    commits = {run.commit for run in runs}
    conditions = {json.dumps(run.changed_conditions, sort_keys=True) for run in runs}
    if len(commits) != 1 or len(conditions) != 1 or not runs[0].commit:
        raise UsageError(
            "an entry of the history needs runs of one commit under equal conditions",
            runs[0].source,
            f"commits {', '.join(sorted(commits)) or 'none'}; {len(conditions)} different conditions",
            hint="add the runs of each commit separately",
        )
    commit, condition = commits.pop(), conditions.pop()
    nodes = {}
    for metric in METRICS:
        sides = {
            node: steady(runs, metric, node, warm_up)
            for node in dict.fromkeys(node for run in runs for node in run.times.get(metric, {}))
        }
        found = {node: float(np.median(statistics.run_medians(side))) for node, side in sides.items() if side}
        if found:
            nodes[metric] = found
    if not nodes:
        raise UsageError(
            "no run has an event after the warm-up", runs[0].source, hint="give an input with more events"
        )
    return {
        "schema": SCHEMA,
        "commit": commit,
        "commit_time": commit_time(repository, commit),
        "time": max(run.time for run in runs),
        "series": hashlib.sha256(condition.encode()).hexdigest()[:8],
        "conditions": runs[0].changed_conditions,
        "runs": len(runs),
        **nodes,
    }


def commit_time(repository: Path, commit: str) -> int | None:
    """Return the time of the commit [s since 1970], None if the repository lacks it."""
    name = commit.removesuffix("-dirty")
    shown = _git(repository, "show", "--no-patch", "--format=%ct", "--end-of-options", name).split()
    return int(shown[-1]) if shown else None


def append(store: Path, line: dict) -> None:
    """Append a line atomically: one write to a file opened for appending."""
    try:
        store.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(store, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(descriptor, (json.dumps(line, separators=(",", ":")) + "\n").encode())
        finally:
            os.close(descriptor)
    except OSError as error:
        raise system_error("cannot write the history", store, error) from None


def read(store: Path) -> list[dict]:
    """Read all entries, later commits last. The last entry added for a commit and series counts."""
    try:
        lines = store.read_bytes().splitlines()
    except OSError as error:
        raise UsageError(
            "no history", str(store), error.strerror or str(error), hint="history FILE --add RUNS"
        ) from None
    latest: dict[tuple[str, str], dict] = {}
    for index, line in enumerate(lines, 1):
        try:
            item = _parsed(line)
            latest[(item["series"], item["commit"])] = item
        except (ValueError, AttributeError, TypeError, RecursionError) as error:
            raise ProfileError(
                "a line of the history is damaged",
                f"{store}:{index}",
                str(error),
                f"an entry of {SCHEMA}",
                "remove the line",
            ) from None
    return sorted(latest.values(), key=lambda item: (item["commit_time"] or 0, item["time"]))


def _parsed(line: bytes) -> dict:
    """Return an entry. Raise ValueError, AttributeError, TypeError or RecursionError if it is none."""
    item = json.loads(line)
    if item.get("schema") != SCHEMA:
        raise ValueError(f"schema {item.get('schema')}")
    for key, kind in TYPES.items():
        if not isinstance(item.get(key), kind):
            raise ValueError(f"{key} {item.get(key)!r}")
    times = [time for metric in METRICS for time in item.get(metric, {}).values()]
    if not all(0 <= time <= LONGEST for time in times):
        raise ValueError("a time below 0 or too large")
    if not all(isinstance(text, str) for text in item["conditions"].values()):
        raise ValueError("a condition of another type than text")
    return item


def series_of(entries: list[dict]) -> dict[str, list[dict]]:
    """Return series -> its entries."""
    found: dict[str, list[dict]] = {}
    for item in entries:
        found.setdefault(item["series"], []).append(item)
    return found


def steps_of(entries: list[dict], metric: str, threshold: float) -> list[Step]:
    """Return the steps of at least the threshold of all nodes of a series, the largest first."""
    found = []
    for node in dict.fromkeys(node for item in entries for node in item.get(metric, {})):
        measured = [item for item in entries if item.get(metric, {}).get(node, 0) > 0]
        levels = pieces(np.log([item[metric][node] for item in measured]))
        for old, new in zip(levels, levels[1:]):
            if abs(math.expm1(new.level - old.level)) >= threshold:
                found.append(
                    Step(
                        entries[0]["series"],
                        metric,
                        node,
                        measured[new.first]["commit"],
                        measured[old.last]["commit"],
                        math.exp(old.level),
                        math.exp(new.level),
                        new.first,
                    )
                )
    return sorted(found, key=lambda step: -abs(math.log(step.new / step.old)))


def commits_between(repository: Path, before: str, after: str) -> int | None:
    """Return the count of unmeasured commits between two, None if the repository lacks them."""
    names = [name.removesuffix("-dirty") for name in (before, after)]
    count = _git(repository, "rev-list", "--count", f"{names[0]}..{names[1]}")
    return max(0, int(count) - 1) if count else None


def _git(repository: Path, *words: str) -> str:
    """Return the output of git, empty if it fails."""
    done = subprocess.run(["git", "-C", str(repository), *words], capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""
