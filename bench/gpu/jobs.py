# SPDX-License-Identifier: Apache-2.0
"""Jobs of the main chain: run one, keep its figures, compare its output with that of another one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.programs import NODE_BY_NODE, job_arguments

from . import child, inputs
from .agreement import Criterion, compare
from .outcome import Failed
from .stage import Stage
from .timing_figures import figures_of

PIPELINE = "pipeline.jsonnet"
LIMIT_S = 90.0


@dataclass(frozen=True)
class Job:
    """A job that ended well."""

    name: str
    output: Path
    timing: dict[str, Any]
    log: str


def event_file(stage: Stage, count: int) -> Path:
    """Return a file with `count` events of equal length."""
    frame = inputs.first_frame(stage.setting.frames)
    return inputs.write_events(stage.setting.work / f"input-{count}.tar", inputs.rotated(frame, count))


def command(
    stage: Stage, name: str, words: list[str], arguments: dict[str, Any], job: str = PIPELINE
) -> list[str]:
    """Return the command of a job with a log, a timing report and an output in the work folder."""
    work = stage.setting.work
    given = {"device": stage.setting.device, "output": str(work / f"{name}.tar")}
    given |= (NODE_BY_NODE if job == PIPELINE else {}) | arguments
    return [
        str(stage.setting.program),
        "-c",
        job,
        *("-l", str(stage.logs / f"{name}.log"), "-L", "debug"),
        *("--timing", str(stage.logs / f"{name}.json")),
        *stage.setting.words,
        *words,
        *job_arguments(given),
    ]


def run_job(
    stage: Stage,
    name: str,
    *words: str,
    environment: dict[str, str] | None = None,
    limit_s: float = LIMIT_S,
    job_file: str = PIPELINE,
    **arguments: Any,
) -> Job:
    """Run a job; `input` defaults to three events. Raise Failed with its error if it does not end well."""
    if job_file == PIPELINE and "input" not in arguments:
        arguments["input"] = event_file(stage, 3)
    log, timing = stage.logs / f"{name}.log", stage.logs / f"{name}.json"
    log.unlink(missing_ok=True)
    words_of_job = command(stage, name, list(words), arguments, job_file)
    done = stage.run(name, words_of_job, limit_s, environment, stage.setting.work)
    if done.status != 0:
        raise Failed(f"{name}: {done.failure()}")
    return Job(
        name,
        Path(arguments.get("output", stage.setting.work / f"{name}.tar")),
        json.loads(timing.read_text(encoding="utf-8")),
        log.read_text(encoding="utf-8", errors="replace") if log.exists() else "",
    )


def measure(stage: Stage, job: Job) -> str:
    """Keep the figures of a job; return them in one line."""
    figures = figures_of(job.name, job.timing)
    stage.add("jobs", figures.json())
    return figures.summary()


def agree(stage: Stage, reference: Job, seen: Job, criterion: Criterion) -> str:
    """Compare the outputs of two jobs and keep the comparison; return it in one line, or raise Failed."""
    try:
        found = compare(reference.output, seen.output)
    except ValueError as problem:
        raise Failed(str(problem)) from problem
    for agreement in found:
        stage.add(
            "agreements",
            {"job": seen.name, "reference": reference.name, "limits": criterion.text(), **agreement.json()},
        )
    failures = [failure for agreement in found for failure in agreement.failures(criterion)]
    if failures:
        raise Failed("; ".join(failures))
    return "; ".join(agreement.summary() for agreement in found)


def blocking_failure(stage: Stage, name: str, **arguments: Any) -> child.Done:
    """Repeat a job of one event with blocking launches, so that an error names the kernel that made it."""
    words = command(stage, name, [], {"input": event_file(stage, 3), **arguments, "nevents": 1})
    return stage.run(name, words, 60.0, {"CUDA_LAUNCH_BLOCKING": "1"}, stage.setting.work)
