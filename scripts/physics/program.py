# SPDX-License-Identifier: Apache-2.0
"""Run wire-cell: the main job with changed settings, and the simulation."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.bench.programs import job_arguments, run_quietly
from scripts.bench.statistics_of_calls import chain_figures
from scripts.wcb.checkout import ROOT

PIPELINE = ROOT / "cfg" / "pipeline.jsonnet"
SIMULATION = ROOT / "cfg" / "simulate.jsonnet"

# The main job with arguments and with changed settings of some components, named as Type or Type:name.
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


@dataclass(frozen=True)
class Program:
    """wire-cell and the threads that one process of it may use."""

    path: Path
    threads: int

    def run(self, arguments: list[str]) -> float:
        """Run wire-cell; return the wall time [s]. Raise JobFailed if it fails."""
        start = time.monotonic()
        status, errors = run_quietly([str(self.path), *arguments], {"OMP_NUM_THREADS": str(self.threads)})
        if status:
            raise JobFailed(f"wire-cell {' '.join(arguments)}\nended with status {status}:\n{errors}")
        return time.monotonic() - start

    def simulate(self, **arguments: Any) -> float:
        """Run cfg/simulate.jsonnet with these arguments; return the wall time [s]."""
        return self.run(
            ["-c", str(SIMULATION), *job_arguments({"device": "cpu", "threads": self.threads, **arguments})]
        )

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
            arguments["tags"] = "signal,gauss"
        changes = dict(variant.changes)
        if variant.probability:
            arguments["dump"] = "roi"
            changes["SPNGDNNROI"] = "{ probability: 'probability' }"
        job = folder / f"{variant.name}.jsonnet"
        job.write_text(
            WRAPPER
            % {
                "job": json.dumps(str(PIPELINE)),
                "arguments": ", ".join(f"{name}={json.dumps(value)}" for name, value in arguments.items()),
                "changes": ", ".join(f"{json.dumps(name)}: {data}" for name, data in changes.items()),
            },
            encoding="utf-8",
        )
        timing = folder / f"{variant.name}-timing.json"
        seconds = self.run(["-c", str(job), "--timing", str(timing)])
        probability = folder / f"{variant.name}-roi-induction.npz" if variant.probability else None
        return Processed(output, probability, seconds, json.loads(timing.read_text(encoding="utf-8")))


@dataclass(frozen=True)
class Processed:
    """Results of a run: the frame file, the file with the network's output, the wall time [s], the timing report."""

    output: Path
    probability: Path | None
    seconds: float
    timing: dict

    def chain_milliseconds(self) -> float:
        """Return the wall time [ms] of an event in all nodes except file nodes: median over events, without the first if there are more."""
        return chain_figures([self.timing]).wall.median

    def remove(self) -> None:
        """Delete the files."""
        for path in (self.output, self.probability):
            if path is not None:
                path.unlink(missing_ok=True)
