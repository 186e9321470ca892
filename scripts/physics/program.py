# SPDX-License-Identifier: Apache-2.0
"""Run wire-cell: the main job with changed settings, and the simulation."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.programs import run_quietly
from bench.statistics_of_calls import chain_figures
from scripts.wcb.checkout import ROOT

PIPELINE = ROOT / "cfg" / "pipeline.jsonnet"
SIMULATION = ROOT / "cfg" / "simulate.jsonnet"

# A job with arguments and with changed settings of some components, named as Type or Type:name.
WRAPPER = """\
local components = (import %(job)s)(%(arguments)s);
local changes = {%(changes)s};
local names(component) = [component.type, component.type + ':' + std.get(component, 'name', '')];
local known = std.flattenArrays([names(component) for component in components]);
assert [name for name in std.objectFields(changes) if !std.member(known, name)] == [] : 'no component to change';
[
    std.foldl(function(changed, name) if std.objectHas(changes, name) then changed { data+: changes[name] } else changed,
              names(component), component)
    for component in components
]
"""


class JobFailed(Exception):
    """wire-cell ended with an error; the text is its error output."""


@dataclass(frozen=True)
class Variant:
    """A way to run the main job.

    arguments    job arguments
    changes      Type or Type:name of components -> Jsonnet object to add to their settings; `super` is the job's value
    dead         use the input with dead channels
    probability  also write the network's output
    perfect      also write the waveforms for perfect ROIs
    """

    name: str
    label: str
    arguments: dict[str, Any] = field(default_factory=dict)
    changes: dict[str, str] = field(default_factory=dict)
    dead: bool = False
    probability: bool = False
    perfect: bool = False


def job_with(job: Path, arguments: dict[str, str], changes: dict[str, str]) -> str:
    """Return a job file: `job` with arguments (Jsonnet expressions) and changes, as in Variant."""
    return WRAPPER % {
        "job": json.dumps(str(job)),
        "arguments": ", ".join(f"{name}={value}" for name, value in arguments.items()),
        "changes": ", ".join(f"{json.dumps(name)}: {data}" for name, data in changes.items()),
    }


@dataclass(frozen=True)
class Finished:
    """A run of wire-cell: wall time [s], and standard error with warnings and the timing table."""

    seconds: float
    errors: str


@dataclass(frozen=True)
class Program:
    """wire-cell and the threads that one process of it may use."""

    path: Path
    threads: int

    def run(self, arguments: list[str]) -> Finished:
        """Run wire-cell. Raise JobFailed if it fails."""
        start = time.monotonic()
        status, errors = run_quietly([str(self.path), *arguments], {"OMP_NUM_THREADS": str(self.threads)})
        if status:
            raise JobFailed(f"wire-cell {' '.join(arguments)}\nended with status {status}:\n{errors}")
        return Finished(time.monotonic() - start, errors)

    def simulate(
        self,
        folder: Path,
        code: dict[str, str] | None = None,
        changes: dict[str, str] | None = None,
        **arguments: Any,
    ) -> float:
        """Run cfg/simulate.jsonnet in a folder; return the wall time [s].

        code     arguments as Jsonnet expressions
        changes  of components, as in Variant
        """
        values = {"device": "cpu", "threads": self.threads, **arguments}
        given = {name: json.dumps(value, default=str) for name, value in values.items()}
        job = folder / "simulate.jsonnet"
        job.write_text(job_with(SIMULATION, given | (code or {}), changes or {}), encoding="utf-8")
        return self.run(["-c", str(job)]).seconds

    def process(self, folder: Path, variant: Variant, adc: Path) -> Processed:
        """Run the main job on a frame file."""
        output = folder / f"{variant.name}.tar"
        arguments = {
            "input": str(adc),
            "output": str(output),
            "device": "cpu",
            "threads": self.threads,
            **variant.arguments,
        }
        if variant.perfect:
            arguments["tags"] = "signal,decon_charge"
        changes = dict(variant.changes)
        if variant.probability:
            arguments["dump"] = "roi"
            changes["SPNGDNNROI"] = "{ probability: 'probability' }"
        job = folder / f"{variant.name}.jsonnet"
        job.write_text(
            job_with(PIPELINE, {name: json.dumps(value) for name, value in arguments.items()}, changes),
            encoding="utf-8",
        )
        timing = folder / f"{variant.name}-timing.json"
        finished = self.run(["-c", str(job), "--timing", str(timing)])
        probability = folder / f"{variant.name}-roi-induction.npz" if variant.probability else None
        report = json.loads(timing.read_text(encoding="utf-8"))
        return Processed(output, probability, finished.seconds, report, finished.errors)


@dataclass(frozen=True)
class Processed:
    """Results of a run: the frame file, the file with the network's output, the wall time [s], the timing report, standard error."""

    output: Path
    probability: Path | None
    seconds: float
    timing: dict
    errors: str = ""

    def chain_milliseconds(self) -> float:
        """Return the wall time [ms] of an event in all nodes except file nodes: median over events, without the first if there are more."""
        return chain_figures([self.timing]).wall.median

    def remove(self) -> None:
        """Delete the files."""
        for path in (self.output, self.probability):
            if path is not None:
                path.unlink(missing_ok=True)
