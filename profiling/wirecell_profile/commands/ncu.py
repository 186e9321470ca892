# SPDX-License-Identifier: Apache-2.0
"""Show verdicts per kernel from Nsight Compute's CSV, with advice and roofline, or an estimated roofline of a
recording.

  ncu --set full -o kernels PROGRAM; ncu --import kernels.ncu-rep --csv --page raw > kernels.csv
  wirecell-profile ncu kernels.csv

For a recording (SQLite) the roofline per node is estimated from the bytes of its tensors, a lower bound of
the moved bytes.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from ..errors import UsageError, system_error
from ..model import selection
from ..model.database import SQLITE_MAGIC, start_of
from ..model.profile import Profile
from ..output import Result, as_table, columns, json_text, write
from ..output_kind import OF_FORMAT
from ..tables import ncu_verdicts
from ..tables.ncu_file import Launch, read_ncu
from ..tables.ncu_verdicts import LEVELS, TENSOR_LEVELS, Kernel, advice, bound, kernels, level, reads
from ..tables.roofline import METRICS, estimated, measured
from ..terminal import visible
from ._options import add_format, add_output, check_outputs

NAME = "ncu"
ADVICE = "advice"
NOT_READ = "metrics that are not read"
SHOWN_NAMES = 6  # of metrics that are not read, in the note
HELP = (
    "show verdicts and roofline from Nsight Compute's CSV, or an estimated roofline per node of a recording"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments."""
    parser.add_argument("file", type=Path, help="CSV of ncu (--csv --page raw or details), or a recording")
    add_format(parser, "table", "json")
    add_output(parser)
    known = parser.add_argument_group("estimated roofline")
    known.add_argument(
        "--flops",
        action="append",
        default=[],
        metavar="NODE=N",
        help="floating point operations per call of a node (Type:instance or Type)",
    )
    known.add_argument("--peak-flops", type=float, metavar="GFLOP/S", help="peak of the device")
    known.add_argument(
        "--peak-bandwidth", type=float, metavar="GB/S", help="peak of its memory (default: from the file)"
    )
    selection.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    check_outputs(arguments, ("--output", arguments.output, OF_FORMAT[arguments.format]))
    try:
        is_recording = start_of(arguments.file, len(SQLITE_MAGIC)) == SQLITE_MAGIC
    except OSError as error:
        raise system_error("cannot read the file", arguments.file, error) from None
    tables = _of_recording(arguments) if is_recording else _of_csv(arguments.file)
    if arguments.format == "json":
        body = json_text({name: result.records() for name, result in tables.items()})
    else:
        body = "\n".join(
            f"** {name}\n\n{_as_lines(result) if name == ADVICE else as_table(_filled(result))}"
            for name, result in tables.items()
            if name != NOT_READ
        )
    write(body, arguments.output)
    return 0


def _filled(result: Result) -> Result:
    """Return the columns of a table that have a value."""
    kept = [i for i in range(len(result.columns)) if any(row[i] is not None for row in result.rows)]
    return Result([result.columns[i] for i in kept], [tuple(row[i] for i in kept) for row in result.rows])


def _as_lines(advice_of_kernels: Result) -> str:
    """Return the advice as lines below the name of each kernel."""
    lines: list[str] = []
    for index, (name, line) in enumerate(advice_of_kernels.rows):
        if index == 0 or name != advice_of_kernels.rows[index - 1][0]:
            lines.append(name)
        lines.append(f"  {line}")
    return "\n".join([*lines, ""])


def _of_csv(path: Path) -> dict[str, Result]:
    launches = read_ncu(path)
    found = kernels(launches)
    tables = {"kernels": _verdicts(found), "resources": _resources(found), ADVICE: _advice(found)}
    points = [(kernel, point) for kernel in found if (point := measured(kernel)) is not None]
    if points:
        rows = [
            (
                kernel.name,
                point.precision,
                point.flops / 1e9,
                point.traffic / 1e9,
                point.intensity,
                point.ridge,
                None if point.attainable is None else point.attainable / 1e9,
                100 * point.flops / point.attainable if point.attainable else None,
                point.side,
            )
            for kernel, point in points
        ]
        tables["roofline"] = Result(
            columns(
                "Kernel, Precision, GFLOP/s:2, DRAM (GB/s):2, FLOP per byte:3, "
                "Ridge (FLOP per byte):3, Attainable GFLOP/s:2, Of attainable (%), Roof"
            ),
            rows,
        )
    unread = _unread(launches)
    if unread:
        tables[NOT_READ] = Result(columns("Metric"), [(name,) for name in unread])
        more = f" and {len(unread) - SHOWN_NAMES} more" if len(unread) > SHOWN_NAMES else ""
        print(
            f"note: metrics of {visible(path.name)} that are not read ({len(unread)}, all with --format json): "
            f"{', '.join(unread[:SHOWN_NAMES])}{more}",
            file=sys.stderr,
        )
    return tables


def _unread(launches: list[Launch]) -> list[str]:
    """Return the metrics of the file that no table uses, without the constants of the device."""
    names = dict.fromkeys(name for launch in launches for name in launch.metrics)
    return [
        name
        for name in names
        if not (reads(name) or METRICS.fullmatch(name) or name.startswith("device__attribute_"))
    ]


def _resources(found: list[Kernel]) -> Result:
    rows = [
        (
            kernel.name,
            level(kernel.value(ncu_verdicts.SM), LEVELS),
            level(kernel.value(ncu_verdicts.DRAM), LEVELS),
            level(kernel.value(ncu_verdicts.TENSOR), TENSOR_LEVELS),
            kernel.value(ncu_verdicts.REGISTERS),
            kernel.total(ncu_verdicts.SHARED_MEMORY),
            kernel.total(ncu_verdicts.LOCAL_ACCESSES),
            kernel.total(ncu_verdicts.BANK_CONFLICTS),
            kernel.conflicts(),
            kernel.value(ncu_verdicts.WAVEFRONT_BYTES),
        )
        for kernel in found
    ]
    return Result(
        columns(
            "Kernel, SM use, DRAM use, Tensor use, Registers per thread:0, Shared memory per block (B):0, "
            "Local memory accesses:0, Bank conflicts:0, Of wavefronts (%), Bytes per wavefront (B)"
        ),
        rows,
    )


def _verdicts(found: list[Kernel]) -> Result:
    rows = []
    for kernel in found:
        stall = kernel.stall()
        parts = (
            ncu_verdicts.SM,
            ncu_verdicts.TENSOR,
            ncu_verdicts.MEMORY,
            ncu_verdicts.DRAM,
            ncu_verdicts.OCCUPANCY,
            ncu_verdicts.THEORETICAL,
        )
        rows.append(
            (
                kernel.name,
                len(kernel.launches),
                kernel.duration,
                *(kernel.value(part) for part in parts),
                stall[0] if stall else None,
                bound(kernel),
            )
        )
    return Result(
        columns(
            "Kernel, Launches, Time (ns), SM (%), Tensor (%), Memory (%), DRAM (%), Occupancy (%), "
            "Theoretical (%), Largest stall, Verdict"
        ),
        rows,
    )


def _advice(found: list[Kernel]) -> Result:
    return Result(
        columns("Kernel, Advice"), [(kernel.name, line) for kernel in found for line in advice(kernel)]
    )


def _of_recording(arguments: argparse.Namespace) -> dict[str, Result]:
    flops = {}
    for text in arguments.flops:
        name, _, count = text.rpartition("=")
        try:
            flops[name] = float(count)
        except ValueError:
            raise UsageError(
                "invalid count of operations", "--flops", text, "NODE=N, such as SPNGDecon=2e9"
            ) from None
    with Profile.open(arguments.file) as profile:
        scope = selection.Scope(profile, selection.from_arguments(arguments))
        return {
            "estimated roofline, bytes are a lower bound": estimated(
                scope, _per_second(arguments.peak_flops), _per_second(arguments.peak_bandwidth), flops
            )
        }


def _per_second(giga: float | None) -> float | None:
    return None if giga is None else giga * 1e9
