# SPDX-License-Identifier: Apache-2.0
"""Rooflines: attainable performance at an arithmetic intensity, min(peak FLOP/s, intensity * peak byte/s).

Measured: from ncu's section SpeedOfLight_RooflineChart or from --metrics. Floating point operations are add +
mul + 2 fma of the executed thread instructions (smsp__sass_thread_inst_executed_op_*_pred_on), without tensor
cores. Roofs are 2 * sm__sass_thread_inst_executed_op_?fma_pred_on.sum.peak_sustained *
sm__cycles_elapsed.avg.per_second and dram__bytes.sum.peak_sustained * dram__cycles_elapsed.avg.per_second, as
ncu draws them (section files of Nsight Compute).

Estimated: from a recording, which has no counts of operations. Bytes are those of the tensors into and out of
a node, each counted once, which is a lower bound of the moved bytes. The user gives the operations (--flops).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from ..model.selection import Scope
from ..model.table import NULL
from ..output import Result, columns
from .ncu_file import Launch
from .ncu_verdicts import DURATION, Kernel
from .node_use import NodeUse, by_node

PRECISIONS = {"f": "FP32", "d": "FP64", "h": "FP16"}
GIGA = 1e9
WEIGHTS = {"add": 1, "mul": 1, "fma": 2}
METRICS = re.compile(  # of the measured roofline
    r"sm(sp)?__(sass_thread_inst_executed_op_[fdh](add|mul|fma)_pred_on\.sum(\.per_cycle_elapsed|\.peak_sustained)?"
    r"|cycles_elapsed\.avg\.per_second)"
    r"|dram__(bytes(_read|_write)?\.sum(\.per_second|\.peak_sustained)?|cycles_elapsed\.avg\.per_second)"
)


@dataclass
class Point:
    """A kernel under the roof. Rates per second."""

    precision: str
    flops: float
    traffic: float  # byte/s of DRAM
    peak_flops: float | None = None
    peak_traffic: float | None = None

    @property
    def intensity(self) -> float | None:
        """Arithmetic intensity [FLOP/byte]."""
        return self.flops / self.traffic if self.traffic else None

    @property
    def attainable(self) -> float | None:
        """Attainable performance at this intensity [FLOP/s]."""
        if self.peak_flops is None or self.peak_traffic is None or self.intensity is None:
            return None
        return min(self.peak_flops, self.intensity * self.peak_traffic)

    @property
    def share_of_attainable(self) -> float | None:
        """Performance / attainable performance [%]."""
        return 100 * self.flops / self.attainable if self.attainable else None

    @property
    def ridge(self) -> float | None:
        """Intensity at which the two roofs meet [FLOP/byte]."""
        return self.peak_flops / self.peak_traffic if self.peak_flops and self.peak_traffic else None

    @property
    def side(self) -> str | None:
        """The roof that limits the kernel."""
        if self.ridge is None or self.intensity is None:
            return None
        return "memory roof" if self.intensity < self.ridge else "compute roof"


def measured(kernel: Kernel) -> Point | None:
    """Return the point of a kernel in its most-used precision.

    None if ncu did not count operations or bytes.
    """
    time = kernel.duration
    traffic = _traffic(kernel)
    rates = {precision: rate for precision in PRECISIONS if (rate := _flops(kernel, precision)) is not None}
    if not rates or traffic is None or not time:
        return None
    most = max(rates, key=rates.__getitem__)
    fma = kernel.value((f"sm__sass_thread_inst_executed_op_{most}fma_pred_on.sum.peak_sustained",))
    clock = kernel.value(("sm__cycles_elapsed.avg.per_second", "smsp__cycles_elapsed.avg.per_second"))
    width, dram = (
        kernel.value(("dram__bytes.sum.peak_sustained",)),
        kernel.value(("dram__cycles_elapsed.avg.per_second",)),
    )
    return Point(
        PRECISIONS[most],
        rates[most],
        traffic,
        2 * fma * clock if fma is not None and clock is not None else None,
        width * dram if width is not None and dram is not None else None,
    )


def _per_time(launches: list[Launch], names: list[tuple[str, int]]) -> float | None:
    """Return the weighted sum of counts over the durations, per second."""
    used = [
        launch
        for launch in launches
        if DURATION in launch.metrics and any(name in launch.metrics for name, _ in names)
    ]
    time = sum(launch.metrics[DURATION] for launch in used)
    total = sum(weight * launch.metrics.get(name, 0.0) for launch in used for name, weight in names)
    return total / time * 1e9 if time else None


def _flops(kernel: Kernel, precision: str) -> float | None:
    """Return FLOP/s from counts, or from counts per cycle and the clock as in the roofline section."""
    for unit in ("smsp", "sm"):
        stems = [
            (f"{unit}__sass_thread_inst_executed_op_{precision}{kind}_pred_on.sum", weight)
            for kind, weight in WEIGHTS.items()
        ]
        counted = _per_time(kernel.launches, stems)
        if counted is not None:
            return counted
        parts = [(kernel.value((f"{stem}.per_cycle_elapsed",)), weight) for stem, weight in stems]
        clock = kernel.value((f"{unit}__cycles_elapsed.avg.per_second",))
        if clock is not None and any(part is not None for part, _ in parts):
            return clock * sum(weight * (part or 0.0) for part, weight in parts)
    return None


def _traffic(kernel: Kernel) -> float | None:
    """Return byte/s of DRAM."""
    for names in ([("dram__bytes.sum", 1)], [("dram__bytes_read.sum", 1), ("dram__bytes_write.sum", 1)]):
        rate = _per_time(kernel.launches, names)
        if rate is not None:
            return rate
    return kernel.value(("dram__bytes.sum.per_second",))


def estimated(
    scope: Scope, peak_flops: float | None, peak_traffic: float | None, flops: dict[str, float]
) -> Result:
    """Estimate rooflines per node. Raise MissingData without node calls or without their bytes.

    Time is that of the device operations, or the exclusive host time in a recording without a device.
    `flops`: operations per call of a node, given by the user.
    """
    use = NodeUse.of(scope)
    calls = use.calls
    if not ((calls.bytes_in != NULL) & (calls.bytes_out != NULL)).any():
        raise scope.profile.missing("SPNG_CALL")
    peak_traffic = peak_traffic if peak_traffic is not None else device_bandwidth(scope)
    rows = []
    for node, mine in by_node(use):
        known = mine[(calls.bytes_in[mine] != NULL) & (calls.bytes_out[mine] != NULL)]
        time = int((use.device.gpu_busy if use.has_device else use.exclusive)[known].sum())
        if not len(known) or not time:
            continue
        size = int((calls.bytes_in[known] + calls.bytes_out[known]).sum())
        work = flops.get(node, flops.get(node.split(":")[0]))
        rate = size / time * 1e9
        point = (
            Point("", work * len(known) / time * 1e9, rate, peak_flops, peak_traffic)
            if work is not None
            else None
        )
        leaves = calls.leaf_operations[known]
        rows.append(
            (
                node,
                "device" if use.has_device else "host",
                len(known),
                time,
                size,
                rate / 1e9,
                100 * rate / peak_traffic if peak_traffic else None,
                int(leaves[leaves != NULL].sum()) if (leaves != NULL).any() else None,
                int(use.device.operations[known].sum()) if use.has_device else None,
                *_work_cells(point),
            )
        )
    return Result(
        columns(
            "Node, Time of, Calls, Time (ns), Bytes in and out (B), Bandwidth (GB/s):2, "
            "Of peak (%), Tensor operations, Device operations, GFLOP/s:2, FLOP per byte:3, "
            "Attainable GFLOP/s:2, Roof"
        ),
        rows,
    )


def _work_cells(point: Point | None) -> tuple:
    if point is None:
        return (None,) * 4
    return point.flops / GIGA, point.intensity, scaled(point.attainable, 1 / GIGA), point.side


def scaled(value: float | None, factor: float) -> float | None:
    """Return value * factor, None for None."""
    return None if value is None else value * factor


def device_bandwidth(scope: Scope) -> float | None:
    """Return byte/s of the device's memory from the file, the largest of several devices; None if unknown."""
    profile = scope.profile
    if not profile.has("TARGET_INFO_GPU"):
        return None
    known = profile.table("TARGET_INFO_GPU").integers("memoryBandwidth")
    known = known[(known != NULL) & (known > 0)]
    return float(np.max(known)) if len(known) else None
