# SPDX-License-Identifier: Apache-2.0
"""R18: the process of a host, which a Pipeline uses but does not change, and its children of fork."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from scripts.output import Table
from tests.support import wire_cell

from .row import Outcome, judge
from .work import Work

PATH = os.pathsep.join(str(wire_cell.ROOT / folder) for folder in ("python", "profiling"))
SECONDS = 500


def told_by(module: str, *words: str) -> dict[str, Any]:
    """Run a module of the tests in a Python of its own; return what it tells as JSON."""
    done = subprocess.run(
        [sys.executable, "-m", module, *words],
        cwd=wire_cell.ROOT,
        env={**os.environ, "PYTHONPATH": PATH},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    if done.returncode != 0:
        return {"failure": f"status {done.returncode}: {done.stderr[-300:]}"}
    return dict(json.loads(done.stdout))


def guests(work: Work) -> Outcome:
    """Measure R18."""
    misses: list[str] = []
    properties: set[str] = set()
    models = ("none", "default")[: work.choose(2, 1)]
    for model in models:
        found = told_by("tests.support.process_state", str(wire_cell.ADC), model)
        misses += [
            f"model={model}: {each}" for each in found.get("changes", [found.get("failure", "no answer")])
        ]
        properties |= set(found.get("seen", {}))
    children = told_by("tests.support.forked_pipelines")
    uses = children.pop("uses", [1, children.get("failure", "no answer")])
    silent = uses[1].partition("]")[0].lstrip("[")
    if uses[0] != 0 or silent:
        misses.append(f"uses of the parent's objects in a child without an error: {silent or uses}")
    if children.get("parent") != [0, 1, 2, 9]:
        misses.append(f"the parent after its children: {children.get('parent')}")
    rows = [[name, str(end).strip("[]")] for name, end in children.items()]
    figure = (
        f"{len(misses)} changes in {len(properties)} properties of a process with {len(models)} jobs and two engines; "
        f"{len(rows)} kinds of children of fork end"
    )
    note = (
        "The properties are those of tests/support/process_state.py: signals, environment, locale, limits, folder, rounding, malloc, "
        "logging, hooks of Python, global symbols, and LibTorch's allocator, threads and observers.\n"
        "They are compared before and after the import, during and after the Pipelines."
    )
    return judge(
        figure, misses, note, [Table("Children of fork", ["child", "status and message"], rows, words=2)]
    )
