# SPDX-License-Identifier: Apache-2.0
"""One stage: runs checks within a time limit, prints their outcomes, and collects results."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.output import Table
from scripts.wcb.checkout import ROOT, say

from . import child
from .outcome import FAILED, OK, SKIPPED, Failed, Outcome, Skipped
from .setting import Setting

RESERVE_S = 10.0  # of the stage, to write the results
SHORTEST_S = 5.0  # no check starts with less


@dataclass
class Stage:
    """The state of a stage.

    end       time at which the stage ends [s, monotonic clock]
    results   content of the result file besides the checks, by name
    only      run the checks whose names contain one of these words; all if there is none
    """

    name: str
    setting: Setting
    end: float
    outcomes: list[Outcome] = field(default_factory=list)
    results: dict[str, Any] = field(default_factory=dict)
    only: tuple[str, ...] = ()

    @property
    def logs(self) -> Path:
        """The folder of the logs of programs."""
        folder = self.setting.work / f"logs-{self.name}"
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def left_s(self) -> float:
        """Return the time that is left for checks."""
        return self.end - RESERVE_S - time.monotonic()

    def check(self, name: str, work: Callable[[], str]) -> bool:
        """Run a check; `work` returns its figures in one line, or raises Failed or Skipped. Return whether it passed.

        Errors of all other kinds fail the check as well, so that one mistake does not cost the stage. A check that is not
        asked for has no outcome.
        """
        if self.only and not any(word in name for word in self.only):
            return False
        begin = time.monotonic()
        try:
            if self.left_s() < SHORTEST_S:
                raise Skipped("no time left in this stage")
            status, note = OK, work()
        except Skipped as reason:
            status, note = SKIPPED, str(reason)
        except Exception as problem:
            status, note = FAILED, str(problem) if isinstance(problem, Failed) else repr(problem)
        outcome = Outcome(name, status, round(time.monotonic() - begin, 1), note)
        self.outcomes.append(outcome)
        say(f"{status:8s}{outcome.seconds:6.1f} s  {name}: {note}")
        return status == OK

    def add(self, kind: str, entry: Any) -> None:
        """Append an entry to a list of the results."""
        self.results.setdefault(kind, []).append(entry)

    def run(
        self,
        name: str,
        command: list[str],
        limit_s: float = 120.0,
        environment: Mapping[str, str] | None = None,
        folder: Path = ROOT,
    ) -> child.Done:
        """Run a program with the environment of the setting and further variables; its output goes to logs/NAME.out."""
        values = {**self.setting.environment, **(environment or {})}
        limit = max(SHORTEST_S, min(limit_s, self.left_s()))
        try:
            return child.run(command, self.logs / f"{name}.out", limit, values, folder)
        except FileNotFoundError as problem:
            raise Skipped(f"no program {command[0]}") from problem

    def table(self) -> Table:
        """Return the table of checks."""
        heads = ["check", "status", "s", "figures, failure or reason"]
        return Table("Checks", heads, [outcome.row() for outcome in self.outcomes], words=4)

    def needs_hardware(self, reason: str) -> None:
        """Skip the check over a simulated runtime."""
        if self.setting.is_simulated:
            raise Skipped(f"simulated device: {reason}")

    def tool(self, name: str) -> str:
        """Return the path of a tool of CUDA; skip the check if there is none."""
        found = shutil.which(name) or shutil.which(name, path="/usr/local/cuda/bin")
        if found is None:
            raise Skipped(f"no {name} on this machine")
        return found
