# SPDX-License-Identifier: Apache-2.0
"""The log of the simulated CUDA runtime (CUDA_SIMULATOR_LOG): all calls, operations and allocations of a process."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

Record = dict[str, Any]

COPIES = {
    "copy_to_device": "[CUDA memcpy Host-to-Device]",
    "copy_to_host": "[CUDA memcpy Device-to-Host]",
    "copy_on_device": "[CUDA memcpy Device-to-Device]",
}
KERNELS = {"kernel", "transform"}


@dataclass(frozen=True)
class SimulatorLog:
    """The records in the order in which they were made. Times in ns of CLOCK_MONOTONIC."""

    records: list[Record]

    @classmethod
    def read(cls, path: Path) -> SimulatorLog:
        return cls([json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()])

    @cached_property
    def calls(self) -> dict[int, Record]:
        """Calls of the runtime by correlation id."""
        return {record["correlation"]: record for record in self.records if record["kind"] == "call"}

    @cached_property
    def kernels(self) -> list[Record]:
        """Kernels of the program, LibTorch and cuFFT."""
        return [record for record in self.records if record["kind"] in KERNELS]

    @cached_property
    def copies(self) -> list[Record]:
        return [record for record in self.records if record["kind"] in COPIES]

    @cached_property
    def operations(self) -> list[Record]:
        return [record for record in self.records if record["kind"] in KERNELS | set(COPIES) | {"fill"}]

    @cached_property
    def allocations(self) -> list[Record]:
        """Allocations and releases."""
        return [record for record in self.records if record["kind"] in ("allocation", "release")]


def name_of(record: Record) -> str:
    """Name of a call without its version; of an operation, as reports with mangled names have it."""
    if record["kind"] == "call":
        return re.sub(r"_v\d+$", "", record["name"])
    return COPIES.get(record["kind"]) or ("[CUDA memset]" if record["kind"] == "fill" else record["name"])


def duration(record: Record) -> int:
    return record["end"] - record["start"]


def union(records: list[Record], begin: int, end: int) -> int:
    """Time within [begin, end] in which at least one of them runs."""
    total = 0
    last = begin
    for start, stop in sorted((record["start"], record["end"]) for record in records):
        total += max(0, min(stop, end) - max(start, last))
        last = max(last, min(stop, end))
    return total
