# SPDX-License-Identifier: Apache-2.0
"""Jobs of the studies: each runs once and its output is kept for the studies that share it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from bench.programs import job_arguments
from spng import Frame, read_frames, write_frames

from ..program import PIPELINE, JobFailed, Program
from ..robustness.measurement import warnings_of

WAVEFORM_TAG = "decon_charge"  # deconvolved waveforms before ROIs
COMMON = {"device": "cpu", "frames": "sparse", "model": "none"}


@dataclass(frozen=True)
class Output:
    """The events of a job and its warnings."""

    events: list[Frame]
    warnings: list[str]

    def rows(self, channels: np.ndarray, tag: str = "signal", event: int = 0) -> np.ndarray:
        """Return the samples (channel, tick) of a tag, zeros for channels that are absent."""
        return np.asarray(self.events[event][tag].rows(channels))


@dataclass
class Jobs:
    """Runs wire-cell on frames in `folder`. timing: the report of the last job."""

    program: Program
    folder: Path
    say: Callable[[str], None]
    timing: dict[str, Any] = field(default_factory=dict)
    _inputs: dict[str, Path] = field(default_factory=dict)
    _outputs: dict[str, Output | JobFailed] = field(default_factory=dict)

    def input(self, name: str, make: Callable[[], Frame | Iterable[Frame]]) -> Path:
        """Return the frame file of this name, written at the first call."""
        if name not in self._inputs:
            path = self.folder / f"{name}.tar"
            write_frames(path, make())
            self._inputs[name] = path
        return self._inputs[name]

    def pipeline(self, given: Path, keep: np.ndarray | None = None, **arguments: Any) -> Output:
        """Run the main job on a frame file. Raise JobFailed, each time, if it fails. keep: channels of the result; None: all."""
        words = {"input": given, "threads": self.program.threads, **COMMON, **arguments}
        key = json.dumps(words, default=str, sort_keys=True)
        if key not in self._outputs:
            self._outputs[key] = self._run(words, keep)
        found = self._outputs[key]
        if isinstance(found, JobFailed):
            raise found
        return found

    def make(self, job: Path, given: Path, name: str, **arguments: Any) -> Path:
        """Run a job that writes `name`.tar from a frame file; return its path. Raise JobFailed if it fails."""
        if not job.is_file():
            raise JobFailed(f"there is no job {job.name}")
        output = self.folder / f"{name}.tar"
        words = {"input": given, "output": output, "device": "cpu", "threads": self.program.threads}
        self.program.run(["-c", str(job), *job_arguments({**words, **arguments})])
        return output

    def _run(self, words: dict[str, Any], keep: np.ndarray | None) -> Output | JobFailed:
        output, timing = self.folder / "output.tar", self.folder / "timing.json"
        hidden = ("input", "threads", *COMMON)
        shown = " ".join([words["input"].stem, *(f"{k}={v}" for k, v in words.items() if k not in hidden)])
        arguments = job_arguments({**words, "output": output})
        try:
            done = self.program.run(["-c", str(PIPELINE), *arguments, "--timing", str(timing)])
        except JobFailed as problem:
            self.say(f"  {shown}: failed")
            return problem
        self.say(f"  {shown}: {done.seconds:.1f} s")
        self.timing = json.loads(timing.read_text(encoding="utf-8"))
        events = [frame if keep is None else reduced(frame, keep) for frame in read_frames(output)]
        output.unlink()
        return Output(events, warnings_of(done.errors))


def reduced(frame: Frame, channels: np.ndarray) -> Frame:
    """Return the frame with these channels only."""
    traces = {
        tag: replace(each, samples=each.rows(channels), channels=channels, summary=None)
        for tag, each in frame.traces.items()
    }
    return replace(frame, traces=traces)
