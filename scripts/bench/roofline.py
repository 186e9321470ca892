"""The least time that a step could take on this machine, to be read beside what it took.

The machine's peaks are measured in the same run (profiling/bench/machine_bench.cxx): bandwidth of a copy, and rates of the
transforms with data in the caches. The bytes of a step are those that the run's counters saw at its ports: each must be
read or written once, however well a step is made. The operations are those of its transforms, 5/2 N log2 N for a real
one of N samples and 5 N log2 N for a complex one. The bound is the longer of the two times; other arithmetic is left out.
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
VIEWS = 2  # in a group: U and V, or the two sides of W


@dataclass(frozen=True)
class Machine:
    """Peaks with the threads of the run: bytes/s read and written, floating point operations/s."""

    copy: float
    product: float
    real_transforms: float
    complex_transforms: float

    def text(self) -> str:
        """For people."""
        return (
            f"copy {self.copy * 1e-9:.1f} GB/s (read and written), matrix product {self.product * 1e-9:.0f} GFLOP/s, real transforms of "
            f"6300 ticks {self.real_transforms * 1e-9:.1f} GFLOP/s, complex ones of 800 channels {self.complex_transforms * 1e-9:.1f} GFLOP/s"
        )

    def json(self) -> dict:
        """For the file."""
        return asdict(self)


def measured_machine(build: Path, threads: int, known: Machine | None = None) -> Machine | None:
    """The best of three repetitions and of what is known from before; None where the program was not built."""
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
    """What a node cannot avoid for one event."""

    bytes: float
    real: float = 0.0  # operations of real transforms
    complex: float = 0.0

    def least_ms(self, machine: Machine) -> float:
        """On a machine that does nothing else."""
        transforms = self.real / machine.real_transforms + self.complex / machine.complex_transforms
        return 1e3 * max(self.bytes / machine.copy, transforms)


def work_of_nodes(timing: dict) -> dict[str, Work]:
    """Node -> its work, for a job of one anode with the default frame; nodes between file input and output."""
    moved = {
        node["name"]: tuple(
            statistics.median(call[key] for call in node["per_call"]) for key in ("in_bytes", "out_bytes")
        )
        for node in timing["nodes"]
    }
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
    """(channels, frequencies) from the bytes of int16 samples and of complex spectra; small tensors go along with both."""
    rows = round(bytes_in / (TICKS * ADC_BYTES))
    return rows, int(bytes_out / (2 * width * rows))


def transforms_of_decon(bytes_in: float, bytes_out: float, width: int) -> tuple[float, float]:
    """Operations of the transform over ticks, and of the two over channels."""
    rows, frequencies = shape_of_decon(bytes_in, bytes_out, width)
    channels = rows / VIEWS
    return rows * real_operations(2 * (frequencies - 1)), 2 * 5 * rows * frequencies * math.log2(channels)


def real_operations(samples: float) -> float:
    """Of one real transform."""
    return 2.5 * samples * math.log2(samples)
