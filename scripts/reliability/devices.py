# SPDX-License-Identifier: Apache-2.0
"""R4, R5, R9: repetition, agreement and memory checks on a GPU. Here: the same chain over the simulated CUDA runtime."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from scripts.output import Table
from tests.support import cuda_simulator, wire_cell

from .repetition import digest
from .row import NO_DEVICE, Outcome, Verdict
from .work import Work, inside

SIMULATOR = "[simulated CUDA runtime](decisions/cuda-simulator.md)"
ON_A_GPU = "Figures of a GPU, of an earlier version: [cuda](benchmarks/cuda.md)."
TICKS, EVENTS = 800, 3
BAR, MASK_BAR = 1e-4, 0.999  # of R5, before the network, with precision=exact


def is_simulated() -> bool:
    """Return whether the simulator is built."""
    return (cuda_simulator.FOLDER / "libSpngSimulatedOperators.so").exists()


def not_run(figure: str, note: str, tables: list[Table] | None = None, misses: Sequence[str] = ()) -> Outcome:
    """Return the outcome of a row that needs a device. misses: what the simulator found."""
    if not is_simulated():
        return Outcome(
            "", Verdict.NOT_RUN, f"{NO_DEVICE}; the simulator is not built, it needs the full LibTorch", note
        )
    if misses:
        return Outcome(figure, Verdict.SHORT, "over the simulator: " + "; ".join(misses), note, tables or [])
    return Outcome(figure, Verdict.NOT_RUN, NO_DEVICE, note, tables or [])


def simulated(work: Work, output: str, **arguments: Any) -> cuda_simulator.Run:
    """Run the main job on small events over the simulator. @throws RuntimeError if it fails."""
    folder = work.site.folder
    if not (folder / "adc.npz").exists():
        wire_cell.write_arrays(folder / "adc.npz", work.site.busy_frames(EVENTS, TICKS))
    given = {"output": output, "tags": "signal,decon_charge,roi", **arguments}
    job = cuda_simulator.job(folder, work.site.flags, given)
    if job.done.returncode != 0:
        raise RuntimeError(job.done.stderr)
    return job


def faults(job: cuda_simulator.Run) -> int:
    """Return the count of races and defects that the simulator found in a run."""
    return len(job.report.all["races"]) + len(job.report.all["defects"])


def repeated(work: Work) -> Outcome:
    """Measure R4 over the simulator."""
    if not is_simulated():
        return not_run("", ON_A_GPU)
    runs = work.choose(20, 3)
    digests, found = set(), 0
    for index in range(runs):
        # Other events in flight change the order of the launches.
        arguments = {"engine": "TbbFlow", "events_in_flight": 1 + index % 3, "model": "standin"}
        found += faults(simulated(work, "out.npz", cuda_graph=("off", "on")[index % 2], **arguments))
        digests.add(digest(work.site.folder / "out.npz"))
    return not_run(
        f"over the simulator: {len(digests)} distinct file{'s' if len(digests) > 1 else ''} in {runs} runs",
        f"{EVENTS} small events on TbbFlow over the {SIMULATOR}, with 1 to 3 events in flight, with and without CUDA graphs.\n{ON_A_GPU}",
        misses=[
            *([f"{len(digests)} different files"] if len(digests) > 1 else []),
            *([f"{found} races and defects"] if found else []),
        ],
    )


def agreement(work: Work) -> Outcome:
    """Measure R5 over the simulator."""
    if not is_simulated():
        return not_run("", ON_A_GPU)
    rows = []
    network = wire_cell.DATA / "dnnroi.ts"
    settings: dict[str, dict[str, Any]] = {
        "model=none": {"model": "none"},
        "network": {"model": network},
        "network, CUDA graphs": {"model": network, "cuda_graph": "on"},
        "network, precision=fast": {"model": network, "precision": "fast"},
    }
    worst, least, fast, found = 0.0, 1.0, "", 0
    for name, arguments in settings.items():
        found += faults(simulated(work, "cuda.npz", **arguments))
        on_cpu = {key: value for key, value in arguments.items() if key != "cuda_graph"}
        given = {
            "input": "adc.npz",
            "threads": 1,
            "tags": "signal,decon_charge,roi",
            **on_cpu,
            "precision": "exact",
        }
        cpu = wire_cell.job(work.site.folder, *work.site.flags, **given)
        cuda = wire_cell.read_arrays(work.site.folder / "cuda.npz")
        charge = max(
            inside(cpu[f"frame_decon_charge_{ident}"], cuda[f"frame_decon_charge_{ident}"])
            for ident in range(EVENTS)
        )
        masks = [[each[f"frame_roi_{ident}"] != 0 for ident in range(EVENTS)] for each in (cpu, cuda)]
        both, either = (
            sum(int(operation(one, other).sum()) for one, other in zip(*masks, strict=True))
            for operation in (np.logical_and, np.logical_or)
        )
        charges = [
            sum(float(each[f"frame_signal_{ident}"].sum(dtype=np.float64)) for ident in range(EVENTS))
            for each in (cpu, cuda)
        ]
        change = abs(charges[1] / charges[0] - 1)
        rows.append([name, f"{charge:.1e}", f"{both / either:.5f}", f"{change:.1e}"])
        if "precision" in arguments:
            fast = f"`fast`: masks {both / either:.2%}, charge {change:.2%}"
        else:
            worst, least = max(worst, charge), min(least, both / either)
    return not_run(
        f"over the simulator: max abs difference {worst:.1e} of the RMS before the network, masks {least:.2%}; {fast}",
        f"{EVENTS} small events over the {SIMULATOR}: own kernels run in an emulator, those of LibTorch are the CPU's, so the rounding of "
        f"cuFFT, cuDNN and LibTorch's kernels is not in these figures.\n`precision=fast` is compared with `exact` on the CPU.\n{ON_A_GPU}",
        [
            Table(
                "CPU and simulator",
                [
                    "setting",
                    "max abs difference of decon_charge / RMS",
                    "share of ROI samples in both",
                    "change of the charge",
                ],
                rows,
            )
        ],
        [
            *([f"max abs difference {worst:.1e} instead of {BAR:.0e}"] if worst > BAR else []),
            *([f"masks {least:.2%} instead of {MASK_BAR:.2%}"] if least < MASK_BAR else []),
            *([f"{found} races and defects"] if found else []),
        ],
    )


def memory_checks(work: Work) -> Outcome:
    """Measure R9 over the simulator."""
    if not is_simulated():
        return not_run("", ON_A_GPU)
    rows, total = [], 0
    for arguments in (
        {"cuda_graph": "off"},
        {"cuda_graph": "on"},
        {"engine": "TbbFlow", "events_in_flight": 3},
        {"device": "cuda:0,cuda:1", "engine": "TbbFlow"},
    ):
        job = simulated(work, "out.npz", model="standin", **arguments)
        report, total = job.report, total + faults(job)
        name = ", ".join(f"{key}={value}" for key, value in arguments.items())
        rows.append(
            [name, str(report.kernels()), str(len(report.all["races"])), str(len(report.all["defects"]))]
        )
    return not_run(
        f"over the simulator: {total} races and defects in {sum(int(row[1]) for row in rows)} launches",
        f"The {SIMULATOR} detects races between streams and uses that it cannot simulate; its emulator checks the kernels "
        f"([what it does not see](decisions/cuda-kernels.md)).\n{ON_A_GPU}",
        [Table("Checks of the simulator", ["setting", "launches", "races", "defects"], rows)],
        [f"{total} races and defects"] if total else [],
    )
