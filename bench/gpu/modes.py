# SPDX-License-Identifier: Apache-2.0
"""Stage modes: does every way to run the chain give the right output, at what cost, and what does the recorder see?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from bench.gpu.frame_files import FrameFile

from . import inputs, recording
from .agreement import DOUBLE, EXACT, FAST, SAME_BYTES, Criterion
from .jobs import Job, agree, event_file, measure, run_job
from .outcome import Failed, Skipped
from .pytest_run import run_tests
from .stage import Stage

LONG_TICKS = 42_000  # three readout windows
ANODES = 4
RAW_DATA_STEPS = "sticky,lines,coherent,channels"
MAX_ROUNDED = 1e-2  # share of simulated samples that are rounded to the other side
CAPTURED, NOT_CAPTURED = "] captured ", "a capture failed"  # in the log


@dataclass(frozen=True)
class Mode:
    """A way to run the default job, and the agreement of its output with that of the reference mode."""

    name: str
    criterion: Criterion
    arguments: dict[str, Any] = field(default_factory=dict)
    reference: str = "exact"


THROUGHPUT: dict[str, Any] = {"cuda_graph": "on", "engine": "TbbFlow", "events_in_flight": 4}
MODES = (
    Mode("again", SAME_BYTES),
    Mode("graph", SAME_BYTES, {"cuda_graph": "on"}),
    Mode("tbb", SAME_BYTES, {"engine": "TbbFlow"}),
    Mode("graph-tbb", SAME_BYTES, {"cuda_graph": "on", "engine": "TbbFlow"}),
    Mode("sparse-files", SAME_BYTES, {"frames": "sparse", **THROUGHPUT}),
    Mode("two-replicas", SAME_BYTES, {"device": "{device}:0,{device}:0", "engine": "TbbFlow"}),
    Mode("fast", FAST, {"precision": "fast"}),
    Mode("fast-graph-tbb", FAST, {"precision": "fast", "cuda_graph": "on", "engine": "TbbFlow"}),
    Mode("none", EXACT, {"model": "none"}, reference=""),
    Mode("none-graph", SAME_BYTES, {"model": "none", "cuda_graph": "on"}, reference="none"),
    Mode(
        "none-sparse-files", SAME_BYTES, {"model": "none", "frames": "sparse", **THROUGHPUT}, reference="none"
    ),
)


def run(stage: Stage) -> None:
    """Run the checks."""
    done: dict[str, Job] = {}
    modes = (Mode("exact", EXACT, reference=""), *MODES)
    for mode in modes:
        stage.check(f"mode {mode.name}", partial(run_mode, stage, mode, done))
        if not any(other.reference == mode.name for other in modes) and mode.name in done:
            done.pop(mode.name).output.unlink(missing_ok=True)
    stage.check("all devices of the machine", lambda: all_devices(stage, done.get("exact")))
    for job in done.values():
        job.output.unlink(missing_ok=True)
    for name, check in VARIANTS.items():
        stage.check(name, partial(check, stage))
    stage.check("recording", lambda: recording.check(stage, "recorded"))
    stage.check("recording of CUDA graphs", lambda: recording.check(stage, "recorded-graph", cuda_graph="on"))
    stage.check("tests/gpu", lambda: tests(stage))


def run_mode(stage: Stage, mode: Mode, done: dict[str, Job]) -> str:
    """Run the default job in a mode and compare its output with that of the reference mode."""
    settings: dict[str, Any] = {"input": event_file(stage, stage.setting.events)} | {
        key: str(value).format(device=stage.setting.device) for key, value in mode.arguments.items()
    }
    job = run_job(stage, mode.name, **settings)
    done[mode.name] = job
    if settings.get("cuda_graph") == "on" and (CAPTURED not in job.log or NOT_CAPTURED in job.log):
        raise Failed("cuda_graph=on, but the log reports no captured graph, or a failed one")
    cost = measure(stage, job)
    if not mode.reference:
        return cost
    if mode.reference not in done:
        raise Failed(f"no output of mode {mode.reference} to compare with")
    return f"{agree(stage, done[mode.reference], job, mode.criterion)}; {cost}"


def all_devices(stage: Stage, exact: Job | None) -> str:
    """Spread the events over all devices; the output is that of one device."""
    count = device_count(stage)
    if count < 2:
        raise Skipped(f"{count} device on this machine")
    if exact is None:
        raise Failed("no output of mode exact to compare with")
    job = run_job(
        stage,
        "all-devices",
        input=event_file(stage, stage.setting.events),
        engine="TbbFlow",
        device=f"{stage.setting.device}:all",
    )
    cost = measure(stage, job)
    return f"{count} devices; {agree(stage, exact, job, SAME_BYTES)}; {cost}"


def device_count(stage: Stage) -> int:
    """Return the number of devices that nvidia-smi shows; over a simulated runtime, one."""
    return len(stage.results["machine"]["gpus"]) or 1


def on_both(stage: Stage, name: str, criterion: Criterion, **arguments: Any) -> str:
    """Compare a job on the device with the same job on the CPU."""
    reference = run_job(stage, f"cpu-{name}", **{**arguments, "device": "cpu"})
    seen = run_job(stage, f"cuda-{name}", **arguments)
    try:
        return agree(stage, reference, seen, criterion)
    finally:
        for job in (reference, seen):
            job.output.unlink(missing_ok=True)


def two_lengths(stage: Stage) -> str:
    """Alternate the length of the readout; with graphs, each length has its own."""
    frame = inputs.first_frame(stage.setting.frames)
    file = inputs.write_events(stage.setting.work / "input-lengths.tar", inputs.of_two_lengths(frame, 6))
    note = on_both(stage, "lengths", EXACT, input=file, model="none")
    plain = run_job(stage, "lengths", input=file, model="none")
    graph = run_job(stage, "lengths-graph", input=file, model="none", cuda_graph="on")
    return f"{note}; with graphs, {agree(stage, plain, graph, SAME_BYTES)}"


def long_readout(stage: Stage) -> str:
    """Process a readout in several readout windows."""
    frame = inputs.first_frame(stage.setting.frames)
    file = stage.setting.work / "input-long.tar"
    inputs.write_events(file, [inputs.long_readout(frame, LONG_TICKS)])
    return on_both(stage, "long", EXACT, input=file, model="none")


def coherent_filter(stage: Stage) -> str:
    """Subtract the coherent noise first."""
    return on_both(stage, "coherent", EXACT, noise_filter="coherent", model="none", nevents=2)


def raw_data_steps(stage: Stage) -> str:
    """Run all steps on raw waveforms that the default detector has the figures for."""
    return on_both(stage, "raw-data", EXACT, noise_filter=RAW_DATA_STEPS, model="none", nevents=2)


def float64(stage: Stage) -> str:
    """Run in double precision."""
    return on_both(stage, "float64", DOUBLE, dtype="float64", model="none", nevents=1)


def batched_anodes(stage: Stage) -> str:
    """Process four anodes whose tensors are joined, and each in nodes of its own."""
    if not stage.setting.is_default_detector:
        raise Skipped("needs the default input: channels of other anodes are those of ProtoDUNE-HD")
    frame = inputs.first_frame(stage.setting.frames)
    file = inputs.write_events(stage.setting.work / "input-anodes.tar", inputs.of_anodes(frame, ANODES, 2))
    settings: dict[str, Any] = {"input": file, "tpcid": "all", "model": "none"}
    note = on_both(stage, "anodes-batched", EXACT, **settings, batch_anodes="true")
    apart = run_job(stage, "anodes-apart", **settings, batch_anodes="false")
    batched = run_job(stage, "anodes-batched", **settings, batch_anodes="true")
    costs = f"batched {measure(stage, batched)}; apart {measure(stage, apart)}"
    return f"{note}; against separate anodes, {agree(stage, apart, batched, EXACT)}; {costs}"


def simulation(stage: Stage) -> str:
    """Simulate ADC waveforms on the device: counts differ from those of the CPU by at most one, in few samples."""
    settings: dict[str, Any] = {"job_file": "simulate.jsonnet", "nevents": 1, "seed": 7}
    with FrameFile(run_job(stage, "cpu-simulate", device="cpu", **settings).output) as file:
        expected = file.array("frame_*_0").astype(np.int64)
    with FrameFile(run_job(stage, "cuda-simulate", **settings).output) as file:
        seen = file.array("frame_*_0").astype(np.int64)
    if expected.shape != seen.shape:
        raise Failed(f"{seen.shape}, not {expected.shape}")
    largest, share = int(np.abs(expected - seen).max()), float((expected != seen).mean())
    note = f"{share:.2e} of the samples differ, by at most {largest} ADC counts"
    if largest > 1 or share > MAX_ROUNDED:
        raise Failed(f"{note}; limits {MAX_ROUNDED:g} and 1")
    return note


VARIANTS: dict[str, Callable[[Stage], str]] = {
    "events of two lengths": two_lengths,
    "long readout": long_readout,
    "coherent filter": coherent_filter,
    "steps on raw data": raw_data_steps,
    "float64": float64,
    "four anodes, batched": batched_anodes,
    "simulation": simulation,
}


def tests(stage: Stage) -> str:
    """Run tests/gpu without the tests of the operators, which stage smoke ran."""
    stage.needs_hardware("./wcb test runs these tests over it")
    return run_tests(stage, "tests", ["tests/gpu", "--deselect", "tests/gpu/test_kernels.py"], 240)
