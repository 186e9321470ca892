# SPDX-License-Identifier: Apache-2.0
"""Limits of kernels from the metrics of Nsight Compute, with advice.

The threshold of verdicts is that of ncu's own rules: a unit is well used from 60 % of its peak, and a kernel
that uses neither compute nor memory to 60 % waits. The levels of use have further thresholds. Metric names:
Nsight Compute, Profiling Guide (https://docs.nvidia.com/nsight-compute/ProfilingGuide), sections SpeedOfLight,
Occupancy, WarpStateStats, LaunchStats, SourceCounters and MemoryWorkloadAnalysis.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from .ncu_file import Launch

DURATION = "gpu__time_duration.sum"
SM = ("sm__throughput.avg.pct_of_peak_sustained_elapsed",)
MEMORY = ("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",)
DRAM = (
    "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
)
TENSOR = (
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed",
    "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active",
    "sm__pipe_tensor_op_hmma_cycles_active.avg.pct_of_peak_sustained_active",
)
OCCUPANCY = ("sm__warps_active.avg.pct_of_peak_sustained_active",)
THEORETICAL = ("sm__maximum_warps_per_active_cycle_pct",)
WAVES = ("launch__waves_per_multiprocessor",)
CACHES = {
    "L1": (
        "l1tex__throughput.avg.pct_of_peak_sustained_active",
        "sm__memory_throughput.avg.pct_of_peak_sustained_elapsed",
    ),
    "L2": ("lts__throughput.avg.pct_of_peak_sustained_elapsed",),
}
REGISTERS = ("launch__registers_per_thread",)
# Alternatives in order; each is a sum.
SHARED_MEMORY = (
    ("launch__shared_mem_per_block",),
    (
        "launch__shared_mem_per_block_static",
        "launch__shared_mem_per_block_dynamic",
        "launch__shared_mem_per_block_driver",
    ),
)
# Requests of spilled registers, or all instructions of local memory where ncu does not tell them apart.
LOCAL_ACCESSES = (
    ("derived__local_spilling_requests",),
    ("sass__inst_executed_register_spilling_mem_local",),
    ("smsp__inst_executed_op_local_ld.sum", "smsp__inst_executed_op_local_st.sum"),
    ("smsp__sass_inst_executed_op_local_ld.sum", "smsp__sass_inst_executed_op_local_st.sum"),
    ("sass__inst_executed_local_loads", "sass__inst_executed_local_stores"),
)
BANK_CONFLICTS = (
    ("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",),
    ("sm__sass_l1tex_data_bank_conflicts_pipe_lsu_mem_shared.sum",),
    tuple(f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{op}.sum" for op in ("ld", "st")),
)
WAVEFRONTS = (
    ("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",),
    ("sm__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared.sum",),
    tuple(f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum" for op in ("ld", "st")),
)
WAVEFRONT_BYTES = (
    "smsp__sass_average_data_bytes_per_wavefront_mem_shared.ratio",
    "sm__sass_average_data_bytes_per_wavefront_mem_shared.ratio",
)
LIMITS = {
    "registers": "launch__occupancy_limit_registers",
    "shared memory": "launch__occupancy_limit_shared_mem",
    "blocks per SM": "launch__occupancy_limit_blocks",
    "warps per block": "launch__occupancy_limit_warps",
}
# Metrics of stalls by reason in different versions of ncu, each with its unit; the first existing one counts.
STALLS = tuple(
    map(
        re.compile,
        (
            r"sm(?:sp)?__(?:sass_)?(?:average_)?warps_issue_stalled_(\w+?)_per_issue_active\.ratio",
            r"smsp__average_warps_issue_stalled_(\w+?)_per_issue_active\.pct",
            r"smsp__average_warp_latency_issue_stalled_(\w+?)\.(?:ratio|pct)",
            r"smsp__warps_issue_stalled_(\w+?)_per_warp_active\.pct",
            r"smsp__warp_issue_stalled_(\w+?)_per_warp_active\.pct",
        ),
    )
)
MATRIX = re.compile(r"gemm|conv|cutlass|wmma|xmma|mma", re.IGNORECASE)

WELL_USED, LOW_OCCUPANCY, FEW = 60.0, 50.0, 10.0
# Level -> least percentage.
LEVELS = {"excellent": 80.0, "good": WELL_USED, "moderate": 30.0, "low": 0.0}
TENSOR_LEVELS = {"excellent": 50.0, "good": 30.0, "partial": FEW, "low": 0.0}

# Reason of a stall -> explanation and advice.
STALL_FIXES = {
    "long_scoreboard": "waits for global or local memory: coalesce, reuse through shared memory, more loads in flight",
    "short_scoreboard": "waits for shared memory or special functions: fewer bank conflicts, fewer transcendental functions",
    "barrier": "waits at __syncthreads(): smaller blocks, even work between warps, fewer barriers",
    "membar": "waits at a memory fence: fewer or narrower fences",
    "mio_throttle": "queue of shared memory and special instructions is full: use fewer, wider accesses",
    "lg_throttle": "queue of global memory is full: wider loads, no local memory (spilled registers)",
    "tex_throttle": "queue of the texture unit is full: fewer texture and surface accesses",
    "math_pipe_throttle": "the arithmetic pipe is busy: good use; a lower precision or fewer operations help",
    "wait": "fixed latency between dependent instructions: more independent work per thread",
    "no_instruction": "instruction cache misses: smaller loop bodies, less unrolling",
    "branch_resolving": "branches: fewer, or the same way for a whole warp",
    "dispatch_stall": "the dispatcher holds back: usually few threads; look at the source page",
    "drain": "waits for stores at the end: coalesce the last writes",
    "imc_miss": "constant cache misses: read constants uniformly in a warp",
    "sleeping": "nanosleep(): waiting by design",
    "not_selected": "other warps were ready: enough warps; occupancy may be given up for registers",
}


@dataclass
class Kernel:
    """All launches of one kernel: summed durations, and metrics averaged with the durations as weights (None:
    not measured)."""

    name: str
    launches: list[Launch]

    @property
    def duration(self) -> float | None:
        """Sum of durations [ns]; None if ncu did not measure them."""
        times = [launch.metrics[DURATION] for launch in self.launches if DURATION in launch.metrics]
        return sum(times) if times else None

    def value(self, names: tuple[str, ...]) -> float | None:
        """Return the first of these metrics that was measured."""
        for name in names:
            pairs = [
                (launch.metrics.get(DURATION, 1.0), launch.metrics[name])
                for launch in self.launches
                if name in launch.metrics
            ]
            weight = sum(pair[0] for pair in pairs)
            if pairs and weight:
                return sum(time * value for time, value in pairs) / weight
        return None

    def total(self, alternatives: tuple[tuple[str, ...], ...]) -> float | None:
        """Return the sum of the first alternative of which a part was measured."""
        for names in alternatives:
            values = [value for name in names if (value := self.value((name,))) is not None]
            if values:
                return sum(values)
        return None

    def conflicts(self) -> float | None:
        """Return bank conflicts per wavefront of shared memory [%]."""
        conflicts, wavefronts = self.total(BANK_CONFLICTS), self.total(WAVEFRONTS)
        if conflicts is None or wavefronts is None:
            return None
        return 100 * conflicts / wavefronts if wavefronts else 0.0

    def stall(self) -> tuple[str, float] | None:
        """(reason, share of all stalls [%]) of the largest stall; None if stalls were not measured."""
        for pattern in STALLS:
            names = {
                match[1]: name
                for launch in self.launches
                for name in launch.metrics
                if (match := pattern.fullmatch(name)) and match[1] != "selected" and "not_issued" not in name
            }
            values = {reason: self.value((name,)) or 0.0 for reason, name in names.items()}
            whole = sum(values.values())
            if whole > 0:
                reason = max(values, key=values.__getitem__)
                return reason, 100 * values[reason] / whole
        return None


def kernels(launches: list[Launch]) -> list[Kernel]:
    """Group launches by kernel name, the longest total first."""
    groups: dict[str, list[Launch]] = {}
    for launch in launches:
        groups.setdefault(launch.kernel, []).append(launch)
    return sorted(
        (Kernel(name, members) for name, members in groups.items()),
        key=lambda kernel: -(kernel.duration or 0),
    )


def level(value: float | None, levels: dict[str, float]) -> str | None:
    """Return the level of a percentage."""
    return None if value is None else next(name for name, least in levels.items() if value >= least)


def reads(metric: str) -> bool:
    """Return whether a verdict, an advice or a table here uses this metric."""
    return metric in USED or any(pattern.fullmatch(metric) for pattern in STALLS)


def bound(kernel: Kernel) -> str | None:
    """Return the limit of a kernel; None unless the throughputs of both compute and memory were measured."""
    sm, memory, dram = kernel.value(SM), kernel.value(MEMORY), kernel.value(DRAM)
    memory = dram if memory is None else memory
    if sm is None or memory is None:
        return None
    if max(sm, memory) < WELL_USED:
        waves = kernel.value(WAVES)
        return "too small" if waves is not None and waves < 1 else "latency-bound"
    if sm >= memory:
        return "compute-bound"
    if dram is None:
        return "memory-bound"
    return "DRAM-bound" if dram >= WELL_USED else "cache-bound"


BOUND_FIXES = {
    "too small": "the grid does not fill the device once: more work per launch (batch views, planes or events), or a CUDA graph",
    "latency-bound": "neither compute nor memory is used to 60 %: see occupancy and stalls",
    "compute-bound": "fewer operations, a lower precision, tensor cores",
    "memory-bound": "fewer bytes, better locality; measure gpu__dram_throughput to know which memory",
    "DRAM-bound": "fewer bytes: fuse with neighbours, smaller types, do not write what is read once",
    "cache-bound": "better locality: tiles in shared memory, coalesced and aligned accesses",
}


TENSOR_FIXES = {
    "low": "tensor cores unused in a matrix kernel: allow TF32 or use half precision, sizes in multiples of 8",
    "partial": "tensor cores partly used: data arrive too slowly; larger tiles, operands in shared memory",
}
USED = {
    DURATION,
    *(SM + MEMORY + DRAM + TENSOR + OCCUPANCY + THEORETICAL + WAVES + REGISTERS + WAVEFRONT_BYTES),
    *LIMITS.values(),
    *(name for names in CACHES.values() for name in names),
    *(
        name
        for alternatives in (SHARED_MEMORY, LOCAL_ACCESSES, BANK_CONFLICTS, WAVEFRONTS)
        for names in alternatives
        for name in names
    ),
}


def advice(kernel: Kernel) -> list[str]:
    """Return advice, the most important first; empty if nothing was measured."""
    found = []
    limit = bound(kernel)
    if limit is not None:
        found.append(
            f"{limit}{_fullest_cache(kernel) if limit == 'cache-bound' else ''}: {BOUND_FIXES[limit]}"
        )
    if MATRIX.search(kernel.name):
        tensor = level(kernel.value(TENSOR), TENSOR_LEVELS)
        found += [TENSOR_FIXES[tensor]] if tensor in TENSOR_FIXES else []
    found += _occupancy_advice(kernel) + _memory_advice(kernel)
    stall = kernel.stall()
    if stall is not None:
        fix = STALL_FIXES.get(stall[0], "see Warp Stall Reasons in the Profiling Guide")
        found.append(f"stalls, {stall[1]:.0f} % {stall[0]}: {fix}")
    return found


def _fullest_cache(kernel: Kernel) -> str:
    """Return ", CACHE at N %" of the most used cache, empty if none was measured."""
    used = {name: value for name, names in CACHES.items() if (value := kernel.value(names)) is not None}
    fullest = max(used, key=used.__getitem__, default=None)
    return f", {fullest} at {used[fullest]:.0f} %" if fullest else ""


def _memory_advice(kernel: Kernel) -> list[str]:
    """Return advice about spilled registers and bank conflicts."""
    found = []
    local = kernel.total(LOCAL_ACCESSES)
    if local:
        registers = kernel.value(REGISTERS)
        held = f", {registers:.0f} registers per thread" if registers is not None else ""
        found.append(
            f"{local:,.0f} accesses to local memory{held}: registers are spilled, or arrays are indexed by "
            "variables; fewer live values, less unrolling, a larger limit of registers (__launch_bounds__)"
        )
    conflicts = kernel.conflicts()
    if conflicts is not None and conflicts >= FEW:
        found.append(
            f"bank conflicts in {conflicts:.0f} % of the wavefronts of shared memory: pad or permute rows so that "
            "a warp accesses 32 banks"
        )
    return found


def _occupancy_advice(kernel: Kernel) -> list[str]:
    achieved, theoretical = kernel.value(OCCUPANCY), kernel.value(THEORETICAL)
    if theoretical is not None and theoretical < LOW_OCCUPANCY:
        limits = {name: kernel.value((metric,)) for name, metric in LIMITS.items()}
        known = {name: value for name, value in limits.items() if value is not None}
        why = f", limited by {min(known, key=known.__getitem__)}" if known else ""
        used = kernel.value(SM)
        if used is not None and used >= WELL_USED:
            return [
                f"theoretical occupancy {theoretical:.0f} %{why}: enough, compute is used to {used:.0f} %"
            ]
        return [
            f"theoretical occupancy {theoretical:.0f} %{why}: fewer registers (__launch_bounds__), less shared memory"
        ]
    if achieved is not None and theoretical is not None and achieved < 0.7 * theoretical:
        return [
            f"achieved occupancy {achieved:.0f} % of {theoretical:.0f} %: uneven blocks or a short grid's tail"
        ]
    return []
