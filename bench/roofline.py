# SPDX-License-Identifier: Apache-2.0
"""Lower bound of the time of a step on this machine.

The machine's peaks are measured in the same run (bench/cpp/machine_bench.cxx): bandwidth of a copy, and rates of
transforms with data in the caches. The bytes of a step are counted at its ports: each must be read or written at least
once. The operations are those of its transforms: 5/2 N log2 N for a real transform of N samples, 5 N log2 N for a complex
one. The bound is the longer of the two times; it omits other arithmetic.

wirecell_profile's rooflines are of kernels and recordings: operations and bytes per second, counted by ncu or given by the
user. This one needs neither; the two have no code in common.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import asdict, dataclass
from pathlib import Path

from . import programs

PROGRAM = "machine_bench"
TICKS = 6000
ADC_BYTES = 2
VIEWS = 2  # of a group: U and V, or the two sides of W


@dataclass(frozen=True)
class Machine:
    """Peaks with the threads of the run: bytes/s read and written, floating point operations/s."""

    copy: float
    product: float
    real_transforms: float
    complex_transforms: float

    def text(self) -> str:
        """Return the peaks as text."""
        return (
            f"copy {self.copy * 1e-9:.1f} GB/s (read and written), matrix product {self.product * 1e-9:.0f} GFLOP/s, real transforms of "
            f"6300 ticks {self.real_transforms * 1e-9:.1f} GFLOP/s, complex ones of 800 channels {self.complex_transforms * 1e-9:.1f} GFLOP/s"
        )

    def json(self) -> dict:
        """Return the content of the JSON file."""
        return asdict(self)


def measured_machine(build: Path, threads: int, known: Machine | None = None) -> Machine | None:
    """Return the best of three repetitions and of `known`; None if the program was not built."""
    program = build / "bench" / PROGRAM
    if not program.exists():
        return None
    best: dict[str, float] = {}
    for entry in programs.benchmark_entries(program, "", 3, {"OMP_NUM_THREADS": str(threads)}):
        name = entry["run_name"].split("/")[0]
        rate = entry.get("bytes_per_second") or entry["items_per_second"]
        best[name] = max(best.get(name, 0.0), rate)
    now = Machine(
        best["copy_of_all_samples"],
        best["product_of_matrices"],
        best["real_transforms_of_ticks"],
        best["complex_transforms_of_channels"],
    )
    if known is None:
        return now
    return Machine(**{name: max(rate, getattr(known, name)) for name, rate in now.json().items()})


@dataclass(frozen=True)
class Work:
    """Unavoidable work of a node for one event."""

    bytes: float
    real: float = 0.0  # operations of real transforms
    complex: float = 0.0

    def least_ms(self, machine: Machine) -> float:
        """Return the least time of the work on an idle machine [ms]."""
        transforms = self.real / machine.real_transforms + self.complex / machine.complex_transforms
        return 1e3 * max(self.bytes / machine.copy, transforms)


def work_of_nodes(timing: dict) -> dict[str, Work]:
    """Return node -> work of all nodes, for a job of one anode with the default frame."""

    def median(node: dict, key: str) -> float:
        return statistics.median(call[key] for call in node["per_call"])

    moved = {node["name"]: (median(node, "in_bytes"), median(node, "out_bytes")) for node in timing["nodes"]}
    width = 8 if "float64" in timing["run"]["precision"] else 4
    found = {}
    for name, (bytes_in, bytes_out) in moved.items():
        kind = name.split(":")[0]
        group = name.split("-")[-1].split(":")[-1]
        if kind == "SPNGDecon":
            real, complex_ = transforms_of_decon(bytes_in, bytes_out, width)
            found[name] = Work(bytes_in + bytes_out, real, complex_)
        elif kind == "SPNGApply1DSpectrum" and f"SPNGDecon:{group}" in moved:
            rows, frequencies = shape_of_decon(*moved[f"SPNGDecon:{group}"], width)
            samples = (
                2 * (frequencies - 1) * min(1.0, 2 ** round(math.log2(bytes_out / (rows * width) / TICKS)))
            )
            found[name] = Work(bytes_in + bytes_out, rows * real_operations(samples))
        else:
            found[name] = Work(bytes_in + bytes_out)
    return found


def shape_of_decon(bytes_in: float, bytes_out: float, width: int) -> tuple[int, int]:
    """Return (channels, frequencies) from the bytes of int16 samples and of complex spectra; both include small tensors."""
    rows = round(bytes_in / (TICKS * ADC_BYTES))
    return rows, int(bytes_out / (2 * width * rows))


def transforms_of_decon(bytes_in: float, bytes_out: float, width: int) -> tuple[float, float]:
    """Return the operations of the transform over ticks, and of the two over channels."""
    rows, frequencies = shape_of_decon(bytes_in, bytes_out, width)
    channels = rows / VIEWS
    return rows * real_operations(2 * (frequencies - 1)), 2 * 5 * rows * frequencies * math.log2(channels)


def real_operations(samples: float) -> float:
    """Return the operations of one real transform."""
    return 2.5 * samples * math.log2(samples)
