# SPDX-License-Identifier: Apache-2.0
"""Stage sanitize: compute-sanitizer over our operators and over events of the chain."""

from __future__ import annotations

import importlib.util
import re
import sys
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from . import jobs
from .outcome import Failed, Skipped
from .stage import Stage

FAILURE = 9  # exit status of compute-sanitizer if it found an error
LIBRARIES = ("libWireCellSpng.so", "libWireCellSpngCuda.so")
KERNELS = Path(__file__).resolve().parents[2] / "spng/kernels"
# Without LibTorch's cache each tensor has its own block, so that accesses beyond its end are found.
NO_CACHE = {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}
SUMMARY = re.compile(r"(?:ERROR|RACECHECK|LEAK) SUMMARY: (.+)")
COUNTS = re.compile(r"(\d+) (?:errors?|hazards?|warnings?)")
ERROR_LINE = re.compile(
    r"^========= (?!COMPUTE-SANITIZER|ERROR SUMMARY|RACECHECK SUMMARY|Target)(\S.+)$", re.MULTILINE
)
KERNEL_LINE = re.compile(r"^=========     at (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Pass:
    """One run of a tool. target: operators, or the arguments of a job of one event."""

    name: str
    tool: str
    limit_s: float
    job: dict[str, str] = field(default_factory=dict)
    own_kernels_only: bool = False


PASSES = (
    *(
        Pass(f"{tool}, every operator", tool, 60)
        for tool in ("memcheck", "racecheck", "synccheck", "initcheck")
    ),
    Pass("memcheck, an event without network", "memcheck", 90, {"model": "none"}),
    Pass("racecheck, our kernels of an event", "racecheck", 90, {"model": "none"}, own_kernels_only=True),
    Pass("memcheck, an event with the network", "memcheck", 120, {"model": "default"}),
    Pass("memcheck, CUDA graphs", "memcheck", 120, {"model": "none", "cuda_graph": "on", "nevents": "4"}),
)


def run(stage: Stage) -> None:
    """Run the checks."""
    for one in PASSES:
        stage.check(one.name, partial(sanitized, stage, one))


def sanitized(stage: Stage, one: Pass) -> str:
    """Run one pass; return the tool's summary, or raise Failed with the first errors."""
    stage.needs_hardware("compute-sanitizer instruments code of the device")
    command = [stage.tool("compute-sanitizer"), "--tool", one.tool, "--error-exitcode", str(FAILURE)]
    command += ["--target-processes", "all", "--print-limit", "20"]
    if one.own_kernels_only:
        command += [word for name in own_kernels() for word in ("--kernel-name", f"kns={name}")]
    slug = re.sub(r"\W+", "-", one.name)
    done = stage.run(
        slug, [*command, *target(stage, one, slug)], one.limit_s, NO_CACHE if not one.job else None
    )
    stage.add("sanitizer", {"name": one.name, "seconds": round(done.seconds, 1), **findings(done.text)})
    summaries = SUMMARY.findall(done.text)
    if done.is_late:
        raise Failed(f"killed after {done.seconds:.0f} s")
    if done.status or not summaries or is_dirty(summaries):
        raise Failed(f"{'; '.join(summaries) or done.failure()}: {'; '.join(first_errors(done.text))}")
    return "; ".join(dict.fromkeys(summaries))


def own_kernels() -> list[str]:
    """Return the names of our kernels: those that host code launches and the sources for devices define."""
    host, device = (
        "".join(path.read_text(encoding="utf-8") for path in sorted(KERNELS.rglob(pattern)))
        for pattern in ("*.cxx", "*.cu")
    )
    stems = {
        name: re.sub(r"(_int16|_float32|_float64)+$", "", name) for name in re.findall(r'"([a-z]\w+)"', host)
    }
    defined = re.findall(r"^ *SPNG_[A-Z_]+[ (].*", device, re.MULTILINE)
    return sorted(name for name in stems if re.search(rf"[( ]{stems[name]}[_#(,]", "\n".join(defined)))


def target(stage: Stage, one: Pass, name: str) -> list[str]:
    """Return the program to watch, with its arguments."""
    if one.job:
        arguments = {"input": jobs.event_file(stage, 3), "nevents": 1, **one.job}
        return jobs.command(stage, name, [], arguments)
    if importlib.util.find_spec("torch") is None:
        raise Skipped("no torch in this Python")
    libraries = [stage.setting.libraries / library for library in LIBRARIES]
    if not all(library.exists() for library in libraries):
        raise Skipped("libWireCellSpngCuda.so is not built")
    return [sys.executable, "-m", "bench.gpu.probe_operators", *map(str, libraries)]


def is_dirty(summaries: list[str]) -> bool:
    """Tell whether a summary counts an error, a hazard or a warning."""
    return any(int(count) for summary in summaries for count in COUNTS.findall(summary))


def findings(text: str) -> dict[str, object]:
    """Return what a tool found: its summaries, and its errors by kernel."""
    kernels: dict[str, int] = {}
    for kernel in KERNEL_LINE.findall(text):
        name = kernel.split("+0x")[0]
        kernels[name] = kernels.get(name, 0) + 1
    return {"summaries": list(dict.fromkeys(SUMMARY.findall(text))), "kernels": kernels}


def first_errors(text: str) -> list[str]:
    """Return the first different errors with their kernels."""
    lines = [*ERROR_LINE.findall(text), *KERNEL_LINE.findall(text)]
    return list(dict.fromkeys(line.strip() for line in lines))[:4]
